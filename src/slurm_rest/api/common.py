"""Models that several families use: what comes with every answer, exit codes, TRES."""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

from slurm_rest.api._model import AnswerModel, RequestModel
from slurm_rest.api.values import NoVal

__all__ = [
    "OpenapiError",
    "OpenapiMeta",
    "OpenapiMetaClient",
    "OpenapiMetaPlugin",
    "OpenapiMetaSlurm",
    "OpenapiMetaSlurmVersion",
    "OpenapiResp",
    "OpenapiWarning",
    "ProcessExitCodeVerbose",
    "ProcessExitCodeVerboseSignal",
    "Tres",
    "TresReq",
]


class OpenapiError(AnswerModel):
    """``openapi_error``."""

    description: str | None = None
    """Long form error description."""

    error: str | None = None
    """Short form error description."""

    error_number: int | None = None
    """Slurm numeric error identifier."""

    source: str | None = None
    """Source of error or where error was first detected."""


class OpenapiMetaClient(AnswerModel):
    """``openapi_meta_client``."""

    group: str | None = None
    """Client group (if known)."""

    source: str | None = None
    """Client source description."""

    user: str | None = None
    """Client user (if known)."""


class OpenapiMetaPlugin(AnswerModel):
    """``openapi_meta_plugin``."""

    accounting_storage: str | None = None
    """Slurm accounting plugin."""

    data_parser: str | None = None
    """Slurm data_parser plugin."""

    name: str | None = None
    """Slurm plugin name (if applicable)."""

    type: str | None = None
    """Slurm plugin type (if applicable)."""


class OpenapiMetaSlurmVersion(AnswerModel):
    """``openapi_meta_slurm_version``."""

    major: str | None = None
    """Slurm release major version."""

    micro: str | None = None
    """Slurm release micro version."""

    minor: str | None = None
    """Slurm release minor version."""


class OpenapiMetaSlurm(AnswerModel):
    """``openapi_meta_slurm``."""

    cluster: str | None = None
    """Slurm cluster name."""

    release: str | None = None
    """Slurm release string."""

    version: OpenapiMetaSlurmVersion | None = None


class OpenapiMeta(AnswerModel):
    """``openapi_meta``."""

    client: OpenapiMetaClient | None = None

    command: list[str] | None = None
    """CLI command (if applicable)."""

    plugin: OpenapiMetaPlugin | None = None

    slurm: OpenapiMetaSlurm | None = None


class OpenapiWarning(AnswerModel):
    """``openapi_warning``."""

    description: str | None = None
    """Long form warning description."""

    source: str | None = None
    """Source of warning or where warning was first detected."""


class OpenapiResp(AnswerModel):
    """``openapi_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class ProcessExitCodeVerboseSignal(AnswerModel):
    """``process_exit_code_verbose_signal``."""

    id: NoVal = None
    """Signal sent to process (numeric)."""

    name: str | None = None
    """Signal sent to process (name)."""


class ProcessExitCodeVerbose(AnswerModel):
    """``process_exit_code_verbose``."""

    return_code: NoVal = None
    """Process return code (numeric)."""

    signal: ProcessExitCodeVerboseSignal | None = None

    status: list[str] | None = None
    """Status given by return code. One of: INVALID, PENDING, SUCCESS, ERROR, SIGNALED, CORE_DUMPED."""


class Tres(AnswerModel):
    """``tres``."""

    count: int | None = None
    """TRES count (0 if listed generically)."""

    id: int | None = None
    """ID used in the database."""

    name: str | None = None
    """TRES name (if applicable)."""

    node: str | None = None
    """Node of the task that this extreme belongs to, in the min and max of a step."""

    task: int | None = None
    """Task that this extreme belongs to, in the min and max of a step."""

    type: str | None = None
    """TRES type (CPU, MEM, etc)."""


class TresReq(RequestModel):
    """``tres`` as a request."""

    count: int | None = None
    """TRES count (0 if listed generically)."""

    id: int | None = None
    """ID used in the database."""

    name: str | None = None
    """TRES name (if applicable)."""

    node: str | None = None
    """Node of the task that this extreme belongs to, in the min and max of a step."""

    task: int | None = None
    """Task that this extreme belongs to, in the min and max of a step."""

    type: str | None = None
    """TRES type (CPU, MEM, etc)."""
