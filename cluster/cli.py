"""The command ``scripts/cluster``."""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence

from cluster.errors import ClusterError
from cluster.native import Cluster, down, up
from cluster.root import DEFAULT_RELEASE, RELEASES
from cluster.state import State, load, load_all

_PROG = "scripts/cluster"
_EXEC_USAGE = f"{_PROG} exec [--user USER] [NAME] -- CMD [ARG...]"
_TOKEN_SECONDS = 8 * 3600
_FREE = "free some space or set SLURM_REST_CACHE to another folder"


def main(argv: Sequence[str]) -> int:
    """Run one command; whatever is missing is said in one line."""
    words, command = _split(argv)
    options, unknown = _parser().parse_known_args(words)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    options.command = command
    try:
        return int(options.run(options))
    except ClusterError as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        remedy = _FREE if error.errno == errno.ENOSPC else "see that it can be used"
        place = f": {error.filename}" if error.filename else ""
        print(f"{_PROG}: {error.strerror or error}{place}; {remedy}", file=sys.stderr)
    return 1


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the words at the first ``--``: what follows is a command of the cluster, not an option of ours."""
    words = list(argv)
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROG, description="A real Slurm on this machine, several side by side.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    start = commands.add_parser("up", help="start a cluster (again)")
    start.add_argument("--slurm", choices=RELEASES, help=f"the release (default {DEFAULT_RELEASE})")
    start.add_argument("--nodes", type=_count, metavar="N", help="compute nodes (default 2)")
    start.add_argument("--name", help="default: slurm- and the release, for example slurm-24-11")
    start.add_argument(
        "--conf", action="append", metavar="KEY=VALUE", type=_setting, help="a line of slurm.conf; repeatable"
    )
    start.set_defaults(run=_up, parser=start)
    end = commands.add_parser("down", help="end clusters and remove all of them")
    end.add_argument("name", nargs="*", help="may be left out when there is one")
    end.add_argument("--name", dest="named", action="append", default=[], help=argparse.SUPPRESS)
    end.add_argument("--all", action="store_true", help="every cluster, except those of a running test session")
    end.set_defaults(run=_down, parser=end)
    show = commands.add_parser("status", help="list the clusters and their daemons")
    show.set_defaults(run=_status, parser=show)
    env = _named(commands.add_parser("env", help='settings for slurm-rest: eval "$(scripts/cluster env)"'))
    env.add_argument("--user", default="alice", help="whose settings (default alice)")
    env.set_defaults(run=_env, parser=env)
    run = _named(commands.add_parser("exec", help="run a command inside: exec NAME -- CMD", usage=_EXEC_USAGE))
    run.add_argument("--user", default="root", help="as whom (default root)")
    run.set_defaults(run=_exec, parser=run)
    logs = _named(commands.add_parser("logs", help="what the daemons say"))
    logs.add_argument("service", nargs="?", help="one daemon; default all")
    logs.add_argument("-f", "--follow", action="store_true", help="go on as they say more")
    logs.set_defaults(run=_logs, parser=logs)
    return parser


def _named(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("name", nargs="?", help="may be left out when one cluster runs")
    parser.add_argument("--name", dest="named", help=argparse.SUPPRESS)
    return parser


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError("from 1 to 64")
    return int(text)


def _setting(text: str) -> str:
    key, separator, _ = text.partition("=")
    if not separator or not key.isalnum() or "\n" in text:
        raise argparse.ArgumentTypeError("KEY=VALUE, as in slurm.conf")
    return text


def _up(options: argparse.Namespace) -> int:
    name = options.name or f"slurm-{(options.slurm or DEFAULT_RELEASE).replace('.', '-')}"
    started = time.monotonic()
    cluster, fresh = up(name, options.slurm, options.nodes, options.conf)
    how = f"is up after {time.monotonic() - started:.1f} s" if fresh else "is already up"
    print(f"cluster {name} {how}: Slurm {cluster.release}, {len(cluster.nodes)} nodes, {cluster.url}")
    if fresh:
        print(f'next: eval "$({_PROG} env {name})"')
    return 0


def _down(options: argparse.Namespace) -> int:
    names = [state.name for state in _everyday()] if options.all else [*options.name, *options.named]
    if not names and not options.all:
        names = [_only(_everyday()).name]
    for name in names:
        print(f"cluster {name} is gone" if down(name) else f"there is no cluster {name}")
    return 0


def _everyday() -> list[State]:
    """Return the clusters that are meant when no name is given: not those that a test session is using right now."""
    return [state for state in load_all() if not (state.owner and state.owner.alive())]


def _only(states: Sequence[State]) -> State:
    """Return the one cluster that can be meant."""
    if len(states) == 1:
        return states[0]
    if not states:
        raise ClusterError("no cluster is running", f"start one: {_PROG} up")
    raise ClusterError(
        f"there are several clusters ({', '.join(state.name for state in states)})", "say which one by its name"
    )


def _chosen(options: argparse.Namespace) -> Cluster:
    name = options.name or options.named
    return Cluster.find(name) if name else Cluster(_only([state for state in _everyday() if state.running()]))


def _status(_options: argparse.Namespace) -> int:
    states = load_all()
    if not states:
        print(f"no clusters; start one: {_PROG} up")
        return 0
    rows = [("NAME", "SLURM", "REST", "SSH", "DAEMONS"), *map(_row, states)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]))
    return 0


def _row(state: State) -> tuple[str, str, str, str, str]:
    rest, ssh = f"127.0.0.1:{state.ports.slurmrestd}", f"127.0.0.1:{state.ports.sshd}"
    if not state.running():
        return state.name, state.release, "-", "-", f"all ended; start again: {_PROG} up --name {state.name}"
    cluster = Cluster(state)
    by_status: dict[str, list[str]] = {"running": [], "frozen": [], "stopped": []}
    for service in cluster.services():
        by_status[cluster.service(service).status()].append(service)
    daemons = "; ".join(f"{status}: {' '.join(names)}" for status, names in by_status.items() if names)
    return state.name, state.release, rest, ssh, daemons


def _env(options: argparse.Namespace) -> int:
    cluster = _chosen(options)
    settings = {
        "SLURM_REST_URL": cluster.url,
        "SLURM_REST_USER": options.user,
        "SLURM_JWT": cluster.token(options.user, lifespan=_TOKEN_SECONDS),
        "SLURM_REST_WORKDIR": "/root" if options.user == "root" else f"/home/{options.user}",
        "SLURM_REST_SSH_HOST": "127.0.0.1",
        "SLURM_REST_SSH_PORT": str(cluster.ssh_port),
        "SLURM_REST_SSH_USER": options.user,
        "SLURM_REST_SSH_KEY_FILE": str(cluster.ssh_key),
        "SLURM_REST_SSH_KNOWN_HOSTS": str(cluster.known_hosts),
    }
    for key, value in settings.items():
        print(f"export {key}={shlex.quote(value)}")
    return 0


def _exec(options: argparse.Namespace) -> int:
    if not options.command:
        options.parser.error("the command is missing")
    command = _chosen(options).command(options.command, user=options.user)
    sys.stdout.flush()
    # Not a child of ours: signals and the terminal are the command's own.
    return os.execvp(command[0], command)


def _logs(options: argparse.Namespace) -> int:
    if options.name and not options.service and load(options.name) is None:
        options.name, options.service = None, options.name
    cluster = _chosen(options)
    known = ("cluster", "accounts", *cluster.services())
    if options.service and options.service not in known:
        raise ClusterError(f"cluster {cluster.name} has no log {options.service}", f"choose one of {', '.join(known)}")
    paths = [cluster.log_path(name) for name in ([options.service] if options.service else known)]
    found = [str(path) for path in paths if path.exists()]
    if not found:
        raise ClusterError(f"{options.service} of cluster {cluster.name} has written nothing yet", "ask again later")
    command = ["tail", "-n", "+1", *(["-F"] if options.follow else []), *found]
    return subprocess.run(command, check=False).returncode
