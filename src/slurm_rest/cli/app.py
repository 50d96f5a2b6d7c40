"""The command group: options that say which cluster and who, in front of every command."""

from __future__ import annotations

import difflib

import click

from slurm_rest import __version__

from .cancelling import cancel
from .failures import USAGE, Failed, Interrupted, ReaderLeft
from .health import ping
from .identity import token, version
from .listing import jobs, nodes, partitions
from .logs import logs
from .past import history
from .shared import log_to_stderr
from .submitting import convert, submit
from .terminal import out, remark
from .waiting import status, wait

__all__ = ["app"]

_EPILOG = """\b
Settings come from these options, then from the environment (SLURM_REST_URL,
SLURM_JWT, ...), then from ~/.config/slurm-rest/config.toml.

\b
Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted.

\b
Completion, for instance in ~/.bashrc:
  eval "$(_SLURM_REST_COMPLETE=bash_source slurm-rest)"
and with zsh_source in zsh; fish:
  _SLURM_REST_COMPLETE=fish_source slurm-rest | source"""


# What those type who have Slurm's commands in their fingers.
_SLURMS = {
    "sbatch": ("submit",),
    "srun": ("submit",),
    "squeue": ("jobs",),
    "queue": ("jobs",),
    "sinfo": ("nodes", "partitions"),
    "info": ("status", "nodes", "partitions"),
    "sacct": ("history",),
    "scancel": ("cancel",),
    "scontrol": ("status", "nodes", "partitions"),
}


class _Group(click.Group):
    """A group that says in our words what is wrong; click's differ from release to release."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            remark(ctx.get_help())
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, self.list_commands(ctx), 1)
            hint = f"Did you mean {near[0]}?" if near else f"See: {ctx.command_path} --help"
            if name in _SLURMS:
                *others, last = _SLURMS[name]
                hint = f"Here it is: {ctx.command_path} {' or '.join([', '.join(others), last] if others else [last])}"
            raise Failed(f"no such command: {name}", hint, status=USAGE)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None
        except BrokenPipeError:
            raise ReaderLeft from None


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        out(f"slurm-rest {__version__}")
        ctx.exit()


@click.group(
    cls=_Group,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--cluster", metavar="NAME", help="Profile to use (SLURM_REST_CLUSTER).")
@click.option("--url", help="slurmrestd: http://HOST:PORT, https://HOST:PORT or unix:/PATH (SLURM_REST_URL).")
@click.option(
    "--transport",
    type=click.Choice(["auto", "rest", "ssh", "cli"]),
    metavar="WAY",
    help="rest, ssh or cli alone, or auto: all that are configured (SLURM_REST_TRANSPORT).",
)
@click.option("--ssh-host", metavar="HOST", help="Login node to reach Slurm over SSH (SLURM_REST_SSH_HOST).")
@click.option("--user", metavar="NAME", help="User to act as, where the token allows it (SLURM_REST_USER).")
@click.option("--token-file", metavar="FILE", help="File that holds the token (SLURM_REST_TOKEN_FILE).")
@click.option("--token-command", metavar="COMMAND", help="Command that prints one (SLURM_REST_TOKEN_COMMAND).")
@click.option("--ca-file", metavar="FILE", help="CA certificates for https (SLURM_REST_CA_FILE).")
@click.option(
    "--api-version", metavar="VERSION", help="As in v0.0.42; negotiated if left out (SLURM_REST_API_VERSION)."
)
@click.option("-v", "--verbose", count=True, help="Tell on stderr what is being done; twice: each request.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.pass_context
def app(ctx: click.Context, /, verbose: int, **options: str | None) -> None:
    """Submit, follow and cancel Slurm jobs: through slurmrestd, over SSH, or by Slurm's commands on this host."""
    ctx.obj = {name: value for name, value in options.items() if value}
    if verbose:
        log_to_stderr(ctx, verbose)


for _command in (ping, submit, convert, status, wait, cancel, logs, jobs, history, nodes, partitions, token, version):
    app.add_command(_command)
