"""What a job is without asking any cluster: bodies for each API version, and what this process adds to them."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Mapping
from pathlib import Path

import jwt
import pytest

from slurm_rest.api import API_VERSIONS
from slurm_rest.config import Settings
from slurm_rest.errors import SpecError, UnsupportedVersion
from slurm_rest.sbatch import Script
from slurm_rest.submission import Surroundings, convert_read, translate
from slurm_rest.transport.fields import require_fields

from .test_submission import NEWEST, SCRIPT, environment, jobs_of, read

# --- converting -----------------------------------------------------------------------------------------------


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, object]:
    """Return settings with which nothing of this machine's own counts."""
    for name in [name for name in os.environ if name.startswith(("SLURM", "SBATCH"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return {"url": "http://nowhere", "user": "alice", "workdir": "/home/{user}"}


def converted(settings: Mapping[str, object], script: str = SCRIPT, **options: object) -> list[dict[str, object]]:
    return jobs_of(convert_read(Script(script, "job.sh"), options, [], settings))


def test_converting_needs_no_cluster(settings: dict[str, object]) -> None:
    (job,) = converted(settings, "#!/bin/sh\n#SBATCH -t 5 -J mine\n")
    assert (job["name"], job["current_working_directory"], "comment" in job) == ("mine", "/home/alice", False)
    assert json.loads(json.dumps(job)) == job


@pytest.mark.parametrize("version", API_VERSIONS)
def test_each_version_gets_its_own_fields(version: str, settings: dict[str, object]) -> None:
    (job,) = converted({**settings, "api_version": version}, partition="p", hold=True, mem="4G", mail_type="END")
    require_fields({"job": job}, version)


def test_a_version_that_is_not_known_names_those_that_are(settings: dict[str, object]) -> None:
    with pytest.raises(UnsupportedVersion, match=r"v0\.0\.99") as caught:
        converted({**settings, "api_version": "v0.0.99"})
    assert caught.value.supported == API_VERSIONS
    assert API_VERSIONS[0] in caught.value.hint


def test_what_a_version_cannot_say_is_named_as_an_option(settings: dict[str, object]) -> None:
    with pytest.raises(UnsupportedVersion, match=r"v0\.0\.40 cannot express --segment"):
        converted({**settings, "api_version": "v0.0.40"}, segment=2)


def test_the_sbatch_that_is_imitated_is_that_of_the_first_release_with_the_version(settings: dict[str, object]) -> None:
    script = "#!/bin/sh\n#SBATCH --requeue=expedite\n"
    with pytest.raises(SpecError, match="takes no value"):
        converted({**settings, "api_version": "v0.0.42"}, script)
    assert converted({**settings, "api_version": "v0.0.44"}, script)


def test_the_job_is_the_tokens_users_where_no_other_is_named(
    settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JWT", jwt.encode({"sun": "bob", "exp": 1}, b"k" * 32))
    monkeypatch.setattr("getpass.getuser", lambda: "here")
    assert converted(settings)[0]["current_working_directory"] == "/home/alice"
    assert converted({**settings, "user": None})[0]["current_working_directory"] == "/home/bob"
    monkeypatch.setenv("SLURM_JWT", "nonsense")
    assert converted({**settings, "user": None})[0]["current_working_directory"] == "/home/here"


def test_no_token_command_is_run(settings: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "here")
    (job,) = converted({**settings, "user": None, "token_command": ["/no/such/command"]})
    assert job["current_working_directory"] == "/home/here"


def test_variables_count(settings: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBATCH_PARTITION", "p")
    assert converted(settings)[0]["partition"] == "p"


# --- fields of a version --------------------------------------------------------------------------------------


def test_fields_that_a_version_lacks_are_named() -> None:
    require_fields({"job": {"name": "x", "tasks": 2}}, "v0.0.40")
    for body in ({"job": {"segment_size": 1}}, {"jobs": [{"name": "x"}, {"segment_size": 1}]}):
        with pytest.raises(UnsupportedVersion, match=r"v0\.0\.40 cannot express segment_size") as caught:
            require_fields(body, "v0.0.40")
        assert caught.value.supported == API_VERSIONS[1:]
        require_fields(body, "v0.0.41")


def test_a_field_of_no_version_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedVersion, match=r"cannot express xyzzy.*none"):
        require_fields({"job": {"xyzzy": 1}}, API_VERSIONS[-1])


# --- surroundings ---------------------------------------------------------------------------------------------


def test_the_surroundings_leave_the_umask_alone() -> None:
    before = os.umask(0o022)
    try:
        assert Surroundings.here().umask == 0o022
        assert Surroundings.here().directory == os.getcwd()
    finally:
        assert os.umask(before) == 0o022


def test_only_the_directory_counts_under_the_login_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> int:
        raise AssertionError("the umask was set, which other threads notice")

    monkeypatch.setattr(os, "umask", refuse)
    assert Surroundings.here("login") == Surroundings(os.getcwd())


def test_the_surroundings_tell_soft_limits() -> None:
    here = Surroundings.here()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert here.limits["NOFILE"] == soft
    assert here.host == os.uname().nodename
    assert here.nice == os.getpriority(os.PRIO_PROCESS, 0)


def test_no_limit_is_slurms_word_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert set(Surroundings.here().limits.values()) == {2**64 - 1}


def test_limits_go_along_under_the_submit_rule() -> None:
    here = Surroundings("/x", "h", 0o022, limits={"NOFILE": 5000, "CORE": 0})

    def sent(rule: str, **options: object) -> dict[str, str]:
        made = Settings(workdir="/w", environment=rule)  # type: ignore[arg-type]  # one of two words
        found = environment(jobs_of(translate(read(SCRIPT, **options), made, NEWEST, user="alice", here=here))[0])
        return {name: value for name, value in found.items() if name.startswith("SLURM_RLIMIT_")}

    assert sent("submit") == {"SLURM_RLIMIT_NOFILE": "5000", "SLURM_RLIMIT_CORE": "0"}
    assert sent("submit", propagate="NOFILE") == {"SLURM_RLIMIT_NOFILE": "U5000"}
    assert sent("login") == {}
