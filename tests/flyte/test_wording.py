"""What the connector's errors tell one to set is what the connector reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import grpc
import pytest

from flyteplugins.slurm_rest.follower import Look
from flyteplugins.slurm_rest.judging import judge
from flyteplugins.slurm_rest.transfers import Transfer, collect
from flyteplugins.slurm_rest.wording import in_our_terms, tells_in_our_terms
from slurm_rest import AsyncSlurmClient, BaseState, JobState, SlurmError, watched
from slurm_rest.errors import AuthError, JobNotFound, Unreachable
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


def test_what_the_connector_has_no_setting_for_is_no_advice() -> None:
    assert (
        in_our_terms(f"Gone. {watched._KEEPING}") == "Gone. A longer MinJobAge, or accounting, keeps the ends of jobs."
    )


@pytest.mark.parametrize("text", ["x" * 100_000, "%" * 20_000, "é" * 20_000, "café \udce9"])
@pytest.mark.parametrize("is_ours", [True, False])
async def test_an_error_of_any_length_arrives(text: str, is_ours: bool) -> None:
    """gRPC gives RESOURCE_EXHAUSTED in place of an error whose text fills its trailers, and takes UTF-8 alone."""

    @tells_in_our_terms
    async def fails() -> None:
        raise SlurmError(f"first {text} last", hint=text) if is_ours else ValueError(f"first {text} last")

    async def serve(_: bytes, context: Any) -> bytes:
        try:
            await fails()
        except (SlurmError, ValueError) as error:
            await context.abort(grpc.StatusCode.INTERNAL, f"failed to create slurm task with error:\n {error}.")
        return b""

    handler = grpc.method_handlers_generic_handler("of", {"test": grpc.unary_unary_rpc_method_handler(serve)})
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await channel.unary_unary("/of/test")(b"", timeout=30)
    finally:
        await server.stop(0)
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "first" in str(caught.value.details())
    assert "last" in str(caught.value.details())


async def test_outputs_and_lost_jobs_have_them(client: AsyncSlurmClient, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/elsewhere")
    place = {"uri": str(tmp_path / "o"), "kind": "file", "upload": "connector", "written_to": "/home/out"}
    outcome = await collect(Transfer("1", {"model": place}, None), client.files, None)
    assert "FLYTE_SLURM_FILES" in outcome.message
    assert "SLURM_REST_PATH_MAP" not in outcome.message
    look = Look(JobState(BaseState.UNKNOWN), is_over=True, error=JobNotFound("Gone", hint="Set SLURM_REST_SSH_HOST."))
    assert judge("1", look).message.endswith("Gone. Set FLYTE_SLURM_HOST.")


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
