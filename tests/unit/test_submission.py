"""From a script or spec, options and settings to a body: what is read, what is refused, what is derived from where."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from pathlib import Path

import pytest

from slurm_rest import JobSpec
from slurm_rest.config import Settings
from slurm_rest.errors import ConfigError, SpecError
from slurm_rest.keys import split_comment
from slurm_rest.pathmap import PathMap
from slurm_rest.sbatch import ReadJob, Script, Setting, Submitter, read_job, submit_body
from slurm_rest.submission import Surroundings, Target, prepare, read_spec, translate, try_releases
from slurm_rest.transport.base import PreparedJob

SCRIPT = "#!/bin/sh\ntrue\n"
HET = "#!/bin/sh\n#SBATCH -n 1 --comment=mine\n#SBATCH hetjob\n#SBATCH -n 2\ntrue\n"
HERE = Surroundings("/home/alice/project", "login1", 0o027)
NEWEST = Target("v0.0.45", "26.05", "testing")


def read(script: str | JobSpec, environ: Mapping[str, str] | None = None, /, **options: object) -> ReadJob:
    source = script if isinstance(script, JobSpec) else Script(script, "job.sh", "/x/job.sh")
    return read_spec(source, options, environ=environ or {}, release="26.05")


def jobs_of(body: Mapping[str, object]) -> list[dict[str, object]]:
    jobs = body.get("jobs", [body.get("job")])
    assert isinstance(jobs, list)
    return jobs


def body_of(
    script: str | JobSpec = SCRIPT,
    *,
    target: Target = NEWEST,
    user: str = "alice",
    settings: Mapping[str, object] | None = None,
    **options: object,
) -> list[dict[str, object]]:
    """Return the jobs of a body under these settings."""
    given = {"workdir": "/w", **(settings or {})}
    made = Settings(**given)  # type: ignore[arg-type]  # whatever a test sets
    return jobs_of(translate(read(script, **options), made, target, user=user, here=HERE))


def environment(job: Mapping[str, object]) -> dict[str, str]:
    listed = job["environment"]
    assert isinstance(listed, list)
    return dict(item.split("=", 1) for item in listed)


# --- reading --------------------------------------------------------------------------------------------------


def test_the_last_source_wins() -> None:
    script = "#!/bin/sh\n#SBATCH -p script -t 1 -J script -A script\ntrue\n"
    found = read(script, {"SBATCH_PARTITION": "variable", "SBATCH_TIMELIMIT": "2"}, partition="option").spec
    minutes = found.options()["time"]
    assert (found.partition, str(minutes), found.name, found.account) == ("option", "0:02:00", "script", "script")


def test_a_job_is_named_after_its_script_and_keeps_the_path() -> None:
    found = read(SCRIPT)
    assert (found.spec.name, found.path) == ("job.sh", "/x/job.sh")


def test_options_win_over_a_specs_own_and_variables_do_not_touch_it() -> None:
    found = read(JobSpec(SCRIPT, nodes=2, qos="q"), {"SBATCH_PARTITION": "p"}, nodes=3).spec
    assert (found.nodes, found.qos, found.partition) == ("3", "q", None)


@pytest.mark.parametrize(
    ("lines", "options", "lost"),
    [
        ("#SBATCH -n 2", {}, "--ntasks"),
        ("#SLURM -n 2", {}, "--ntasks"),
        ("#SBATCH -n 2 --mem=1G", {"ntasks": 2}, "--mem"),
        ("#SBATCH hetjob", {}, "hetjob"),
        ("#SBATCH --hold", {"name": "x"}, "--hold"),
    ],
)
def test_a_spec_that_leaves_a_directive_out_is_refused(lines: str, options: dict[str, object], lost: str) -> None:
    spec = JobSpec(f"#!/bin/sh\n{lines}\ntrue\n", **options)  # type: ignore[arg-type]  # whatever a test sets
    with pytest.raises(SpecError, match=f"leaves out: {lost}") as caught:
        read(spec)
    assert "JobSpec.from_script" in caught.value.hint
    assert caught.value.field == "script"


@pytest.mark.parametrize(
    "spec",
    [
        JobSpec.from_script(HET),
        JobSpec.from_script("#!/bin/sh\n#SBATCH -n 2 -J x\n"),
        JobSpec.from_script("#!/bin/sh\n#SBATCH --no-requeue\n", requeue=True),
        JobSpec.from_script("#!/bin/sh\n#SBATCH --threads-per-core=1\n", extra_node_info="2:4"),
        JobSpec("#!/bin/sh\n#SBATCH -n 2\n", ntasks=4),
        JobSpec("#!/bin/sh\ntrue\n#SBATCH -n 2\n"),
        JobSpec("#!/bin/sh\n# SBATCH -n 2\n"),
    ],
)
def test_a_spec_that_leaves_nothing_out_is_taken_as_it_is(spec: JobSpec) -> None:
    assert read(spec).spec == spec


def test_a_spec_made_from_a_script_may_be_changed_afterwards() -> None:
    spec = JobSpec.from_script("#!/bin/sh\n#SBATCH -n 2 -p a\n")
    assert read(spec, ntasks=3).spec == spec.replace(ntasks=3)


def test_the_script_is_given_once() -> None:
    with pytest.raises(SpecError, match="given twice"):
        read(SCRIPT, script=SCRIPT)


# --- the directory --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chdir", "workdir", "rule", "directory"),
    [
        ("/x", "", "login", "/x"),
        ("/x", "/w", "submit", "/x"),
        (None, "/home/{user}", "login", "/home/alice"),
        (None, "/w", "submit", "/w"),
        (None, "", "submit", "/home/alice/project"),
        ("sub/x", "/w", "submit", "/home/alice/project/sub/x"),
        ("../x", "", "submit", "/home/alice/project/../x"),
    ],
)
def test_the_directory_of_a_job(chdir: str | None, workdir: str, rule: str, directory: str) -> None:
    (job,) = body_of(settings={"workdir": workdir, "environment": rule}, chdir=chdir)
    assert job["current_working_directory"] == directory


def test_a_directory_that_the_path_map_covers_goes_by_the_clusters_name() -> None:
    settings = {"workdir": None, "path_map": PathMap.read("/cluster/homes=/home,/other=/mnt")}
    (job,) = body_of(settings=settings)
    assert job["current_working_directory"] == "/cluster/homes/alice/project"
    (job,) = body_of(settings=settings, chdir="../x")
    assert job["current_working_directory"] == "/cluster/homes/alice/project/../x"
    (job,) = body_of(settings={**settings, "environment": "submit"})
    assert job["current_working_directory"] == "/home/alice/project"
    (job,) = body_of(settings={**settings, "workdir": "/w"})
    assert job["current_working_directory"] == "/w"
    with pytest.raises(ConfigError, match="PATH_MAP"):
        body_of(settings={"workdir": None, "path_map": PathMap.read("/other=/mnt")})


def test_directories_that_are_none() -> None:
    with pytest.raises(SpecError, match="'sub' is not absolute") as caught:
        body_of(chdir="sub")
    assert caught.value.field == "chdir"
    with pytest.raises(SpecError, match="'w' is not absolute"):
        body_of(settings={"workdir": "w"})
    with pytest.raises(ConfigError, match=r"no directory on the cluster.*chdir=.*WORKDIR.*ENVIRONMENT=submit"):
        body_of(settings={"workdir": None})
    with pytest.raises(ConfigError, match="SLURM_REST_USER"):
        body_of(settings={"workdir": "/home/{user}"}, user="")
    with pytest.raises(ConfigError, match=r"SLURM_REST_WORKDIR has \{usr\}\. \{user\} alone is replaced"):
        body_of(settings={"workdir": "/home/{usr}"})


def test_every_component_needs_a_directory() -> None:
    text = "#!/bin/sh\n{}#SBATCH hetjob\n#SBATCH -D /two\n"
    with pytest.raises(ConfigError, match="no directory"):
        body_of(text.format(""), settings={"workdir": None})
    with pytest.raises(ConfigError, match="no directory"):
        body_of(JobSpec(SCRIPT, chdir="/one", components=[JobSpec()]), settings={"workdir": None})
    both = body_of(text.format("#SBATCH -D /one\n"), settings={"workdir": None})
    assert [job["current_working_directory"] for job in both] == ["/one", "/two"]


# --- the environment ------------------------------------------------------------------------------------------

SECRETS = {"SLURM_JWT": "s3cret", "SLURM_REST_TOKEN_COMMAND": "s3cret"}


def test_the_login_environment_holds_nothing_of_the_submitters() -> None:
    environ = {"PATH": "/bin", "SLURM_CONF": "/x", **SECRETS}
    (job,) = body_of(settings={"environ": environ}, env={"A": "1"})
    found = environment(job)
    assert (found.pop("SLURM_GET_USER_ENV"), found.pop("A"), found.pop("SLURM_SUBMIT_DIR")) == ("1", "1", "/w")
    # The rest is what sbatch tells MPI launchers, and no more.
    assert set(found.values()) == {"slurm", "--external-launcher"}


def test_the_submit_rule_sends_the_environment_without_its_secrets() -> None:
    environ = {"PATH": "/bin", "HOME": "/home/alice", "SLURM_UMASK": "x", **SECRETS}
    (job,) = body_of(settings={"environ": environ, "environment": "submit"}, env={"PATH": "/mine"})
    found = environment(job)
    assert (found["PATH"], found["HOME"]) == ("/mine", "/home/alice")
    assert (found["SLURM_SUBMIT_DIR"], found["SLURM_SUBMIT_HOST"]) == ("/home/alice/project", "login1")
    assert "s3cret" not in str(job)
    assert "SLURM_GET_USER_ENV" not in found


def test_the_submit_rule_tells_the_umask() -> None:
    (job,) = body_of(settings={"environment": "submit"})
    assert environment(job)["SLURM_UMASK"] == "0027"


def test_what_was_asked_for_with_export_comes_under_the_login_rule_too() -> None:
    (job,) = body_of(settings={"environ": {"A": "1", "B": "2", **SECRETS}}, export="A")
    found = environment(job)
    assert found["A"] == "1"
    assert "B" not in found
    assert "s3cret" not in str(job)


def test_a_file_of_variables_is_read(tmp_path: Path) -> None:
    file = tmp_path / "vars"
    file.write_bytes(b"A=1\0B=x y\0")
    (job,) = body_of(export_file=file, target=Target("v0.0.42", "24.11"))
    assert environment(job).items() >= {"A": "1", "B": "x y"}.items()
    with pytest.raises(SpecError, match="--export-file: cannot read") as caught:
        body_of(export_file=tmp_path / "none")
    assert caught.value.field == "export_file"


# --- the key --------------------------------------------------------------------------------------------------


def prepared(script: str = SCRIPT, **options: object) -> tuple[list[dict[str, object]], str]:
    made = prepare(read(script, **options), Settings(workdir="/w"), NEWEST, user="alice", here=HERE)
    assert made.user == "alice"
    return jobs_of(made.body), made.key


def test_the_comment_keeps_the_users_text_before_the_key() -> None:
    (job,), key = prepared(comment='{"a": "b"}')
    assert split_comment(str(job["comment"])) == ('{"a": "b"}', key)
    with pytest.raises(SpecError, match="finds the job again") as caught:
        prepared(comment="x" * 1000)
    assert (caught.value.field, caught.value.kind) == ("comment", "value")


def test_a_job_without_a_comment_has_the_key_for_one() -> None:
    (job,), key = prepared()
    assert job["comment"] == key


def test_only_the_first_component_carries_the_key() -> None:
    (first, second), key = prepared(HET)
    assert split_comment(str(first["comment"])) == ("mine", key)
    # The comment itself carries over, as sbatch does it.
    assert second["comment"] == "mine"


def test_the_same_words_of_a_user_make_the_same_key() -> None:
    def made(user: str) -> PreparedJob:
        return prepare(read(SCRIPT), Settings(workdir="/w"), NEWEST, user=user, here=HERE, words="night 7")

    assert made("alice").key == made("alice").key
    assert made("bob").key != made("alice").key
    assert str(jobs_of(made("bob").body)[0]["comment"]).endswith(made("bob").key)


def test_a_translation_has_no_key() -> None:
    (job,) = body_of(comment="mine")
    assert job["comment"] == "mine"


# --- het jobs and clusters ------------------------------------------------------------------------------------


def test_a_het_job_is_a_list_with_one_script() -> None:
    body = translate(read(HET), Settings(workdir="/w"), NEWEST, user="alice", here=HERE)
    assert (body["script"], "job" in body) == (HET, False)
    assert [job["tasks"] for job in jobs_of(body)] == [1, 2]


def test_a_job_for_another_cluster_is_refused() -> None:
    assert body_of(cluster="testing")
    assert body_of(clusters="other,testing")
    assert body_of(clusters="all")
    for spec in (JobSpec(SCRIPT, clusters="other"), JobSpec(SCRIPT, cluster="other")):
        with pytest.raises(SpecError, match="serves cluster testing, not other") as caught:
            body_of(spec)
        assert caught.value.field == "clusters"


def test_where_the_cluster_is_not_known_any_name_will_do() -> None:
    assert body_of(clusters="other", target=Target("v0.0.45", "26.05"))


# --- releases -------------------------------------------------------------------------------------------------


def test_what_one_release_takes_is_left_to_it() -> None:
    asked: list[str] = []

    def ready(target: Target) -> None:
        asked.append(target.release)
        if target.release == "26.05":
            raise SpecError("only before")

    try_releases(ready)
    assert asked == ["26.05", "24.11"]


def test_what_no_release_takes_is_told_in_the_newest_ones_words() -> None:
    def ready(target: Target) -> None:
        raise SpecError(target.release)

    with pytest.raises(SpecError, match=r"^26\.05$"):
        try_releases(ready)


def test_other_errors_are_no_matter_of_releases() -> None:
    def ready(target: Target) -> None:
        raise ConfigError(target.release)

    with pytest.raises(ConfigError, match=r"^26\.05$"):
        try_releases(ready)


# --- what sbatch takes and REST does not ------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"uid": "bob"}, {"gid": "staff"}, {"core_spec": 0}, {"resv_ports": 3}])
def test_commands_get_what_rest_cannot_say(options: dict[str, object]) -> None:
    sbatch = Target("", "24.11", commands=True)
    made = prepare(read(SCRIPT, **options), Settings(workdir="/w"), sbatch, user="root", here=HERE)
    assert made.spec is not None
    (name,) = options
    assert any(word.startswith(f"--{name.replace('_', '-')}=") for word in made.spec.to_argv())
    with pytest.raises(SpecError):
        prepare(read(SCRIPT, **options), Settings(workdir="/w"), NEWEST, user="root", here=HERE)


@pytest.mark.parametrize("options", [{"test_only": True}, {"autocomplete": "x"}])
def test_what_makes_no_job_is_refused_everywhere(options: dict[str, object]) -> None:
    for target in (NEWEST, Target("", "24.11", commands=True)):
        with pytest.raises(SpecError, match="submits nothing"):
            prepare(read(SCRIPT, **options), Settings(workdir="/w"), target, user="alice", here=HERE)


# --- exit records ---------------------------------------------------------------------------------------------


def recorded(script: str = SCRIPT, user: str = "alice", **options: object) -> PreparedJob:
    settings = Settings(workdir="/w", exit_records="/home/{user}/exits/")
    return prepare(read(script, **options), settings, NEWEST, user=user, here=HERE)


def test_only_who_asks_for_exit_records_gets_another_first_line() -> None:
    assert prepare(read(SCRIPT), Settings(workdir="/w"), NEWEST, user="alice", here=HERE).body["script"] == SCRIPT
    made = recorded("#!/bin/bash -l\n#SBATCH -n 2\nsrun true\n")
    first, *rest = str(made.body["script"]).split("\n")
    assert (first[:19], len(first) < 127) == ("#!/usr/bin/env -S /", True)
    assert rest == ["#SBATCH -n 2", "srun true", ""]
    program = environment(jobs_of(made.body)[0])["SLURM_REST_RECORDER"]
    for part in ("/home/alice/exits/$slurm_rest_label.json", made.key, '/bin/bash -l "$0" "$@"'):
        assert part in program


def test_an_exit_record_does_not_change_what_a_job_means() -> None:
    # A signal for the batch script alone would end in the recorder; a het job's script is one component's.
    assert recorded(signal="B:USR1@60").body["script"] == SCRIPT
    assert recorded(signal="USR1@60").body["script"] != SCRIPT
    assert str(recorded(HET).body["script"]).startswith("#!/bin/sh\n")


def test_a_directory_with_a_users_name_needs_one() -> None:
    with pytest.raises(ConfigError, match="SLURM_REST_EXIT_RECORDS needs the user"):
        recorded(user="")


def test_no_variable_is_read_that_no_job_needs() -> None:
    """os.environ decodes each value that is looked at, which took longer than all the rest of a submission."""
    looked_at: set[str] = set()

    class Environ(UserDict[str, str]):
        def __getitem__(self, name: str) -> str:
            looked_at.add(name)
            return super().__getitem__(name)

    environ = Environ({"PATH": "/bin", "SLURM_JWT": "a.b.c", "SBATCH_TIMELIMIT": "7", "HYDRA_BOOTSTRAP": "ssh"})
    spec = read_job(Script("#!/bin/sh\n", "job"), environ=environ, release="24.11").spec
    body = submit_body(spec, Setting(directory="/home/alice", submitter=Submitter(environ=environ)))
    assert "PATH" not in looked_at
    job = body["job"]
    assert isinstance(job, dict)
    assert job["time_limit"]["number"] == 7
    assert not any(entry.startswith("HYDRA") for entry in job["environment"])
