"""What the connector's errors tell one to set is what the connector reads."""

from __future__ import annotations

import re

import pytest

from flyteplugins.slurm_rest.wording import in_our_terms
from slurm_rest.errors import AuthError, Unreachable
from tests.support.waiting import until

from .support.site import Site
from .test_docs import WHOLE, documented_in_tables

OURS = re.compile(r"FLYTE_SLURM_[A-Z_]+[A-Z]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Check SLURM_REST_URL.", "Check FLYTE_SLURM_REST_URL."),
        (
            "Set SLURM_JWT, or one of SLURM_REST_TOKEN_*.",
            "Set FLYTE_SLURM_REST_TOKEN, or one of FLYTE_SLURM_REST_TOKEN_*.",
        ),
        ("SLURM_REST_SSH_USER, SLURM_REST_SSH_KEY_FILE", "FLYTE_SLURM_USERNAME, FLYTE_SLURM_SSH_PRIVATE_KEY"),
        ("SLURM_REST_PATH_MAP or (SLURM_REST_SSH_HOST)", "FLYTE_SLURM_FILES or (FLYTE_SLURM_HOST)"),
        ("FLYTE_SLURM_REST_URL, MY_SLURM_JWT, SLURM_JWTS", "FLYTE_SLURM_REST_URL, MY_SLURM_JWT, SLURM_JWTS"),
        ("SLURM_REST_SSH_TUNNEL has no like", "SLURM_REST_SSH_TUNNEL has no like"),
    ],
)
def test_names_are_those_of_the_connector(text: str, expected: str) -> None:
    assert in_our_terms(text) == expected
    assert set(OURS.findall(expected)) <= set(documented_in_tables(WHOLE)), "what administrators find in the docs"


async def test_errors_of_calls_and_news_of_outages_have_them(site: Site) -> None:
    meta = await site.create()
    site.fake.failing = AuthError("The SSH host refused us", hint="Check SLURM_REST_SSH_USER.")
    with pytest.raises(AuthError) as caught:
        await site.create()
    assert "Check FLYTE_SLURM_USERNAME." in str(caught.value)
    site.fake.failing = Unreachable("Nothing listens at SLURM_REST_URL")

    async def told() -> str:
        _, found = await site.get(meta)
        message = found.message or ""
        return message if "Nothing listens" in message else ""

    message = await until(told, "the outage")
    assert message is not None
    assert "Nothing listens at FLYTE_SLURM_REST_URL" in message
