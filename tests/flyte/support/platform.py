"""What the platform does with a connector, over gRPC and with its deadline of 10 seconds; and the service itself."""

from __future__ import annotations

import copy
import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from flyte._internal.runtime import convert, io
from flyte._internal.runtime.task_serde import get_proto_task
from flyte.models import CodeBundle, SerializationContext
from flyteidl2.connector import connector_pb2 as messages
from flyteidl2.connector import service_pb2_grpc
from flyteidl2.core.execution_pb2 import TaskExecution
from flyteidl2.core.security_pb2 import Connection

from tests.packaging.support import ROOT
from tests.support.waiting import until

__all__ = ["Platform", "Submitted", "serialize", "service"]

DEADLINE = 10.0
# For so long a call is repeated whose deadline goes by.
_PATIENCE = 90.0
_runs = itertools.count(1)
_TERMINAL = ("SUCCEEDED", "FAILED", "RETRYABLE_FAILED", "ABORTED")


def serialize(task: Any, code: CodeBundle | None = None) -> Any:  # a task of either package, a message of protobuf
    """Return the template of a task as the platform has it, with its code where that is in no image."""
    # Tasks are named as the nodes import them: from the top of this repository on.
    context = SerializationContext(version="1", project="p", domain="d", org="o", code_bundle=code, root_dir=ROOT)
    return get_proto_task(task, context)


@dataclass
class Submitted:
    """One attempt of a task that was given to the connector."""

    meta: bytes
    kind: str
    prefix: str


@dataclass
class Platform:
    """The platform's part, for one connector. ``secrets`` go along with each call, as its back end sends them."""

    address: str
    bucket: str = "s3://runs"
    secrets: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._channel = grpc.aio.insecure_channel(self.address)
        self._stub = service_pb2_grpc.AsyncConnectorServiceStub(self._channel)  # type: ignore[no-untyped-call]  # generated

    async def close(self) -> None:
        """Hang up."""
        await self._channel.close()

    async def create(
        self,
        task: Any,
        *,
        run: str = "",
        attempt: int = 0,
        patient: bool = True,
        interface: Any = None,
        labels: Mapping[str, str] | None = None,
        given: Any = None,
        **inputs: object,
    ) -> Submitted:
        """Create one attempt of a task, with its inputs in the store as the platform puts them there.

        A template says of no input what it was in Python: ``interface`` is the task that it was made of, or they are
        ``given`` as a message. Raises AioRpcError; that of a deadline only after many in a row, unless it is not to be
        ``patient``.
        """
        run = run or f"r{os.getpid()}x{next(_runs)}"
        prefix = f"{self.bucket}/{run}/a0/{attempt}"
        template = copy.deepcopy(task) if hasattr(task, "SerializeToString") else serialize(task)
        if given is None:
            values: dict[str, Any] = inputs
            native = await convert.convert_from_native_to_inputs(_interface(interface or task), **values)
        else:
            native = convert.Inputs(given)
        await io.upload_inputs(native, io.inputs_path(prefix))
        _render(template, prefix, run)
        request = messages.CreateTaskRequest(
            inputs=native.proto_inputs,
            template=template,
            output_prefix=prefix,
            task_execution_metadata=self._execution(run, attempt, prefix, labels or {}),
            connection=Connection(secrets=dict(self.secrets)),
        )
        answer = await _called(self._stub.CreateTask, request, patient=patient)
        return Submitted(answer.resource_meta, template.type, prefix)

    def _execution(
        self, run: str, attempt: int, prefix: str, labels: Mapping[str, str]
    ) -> messages.TaskExecutionMetadata:
        found = messages.TaskExecutionMetadata(
            labels=labels,
            environment_variables={
                "ACTION_NAME": "a0",
                "RUN_NAME": run,
                "_U_RUN_BASE": prefix,
                "_U_ORG_NAME": "o",
                "_U_EP_OVERRIDE": "dns:///127.0.0.1:1",
                **self.environment,
            },
        )
        found.task_execution_id.retry_attempt = attempt
        node = found.task_execution_id.node_execution_id
        node.node_id = "a0"
        node.execution_id.project, node.execution_id.domain, node.execution_id.name = "p", "d", run
        return found

    async def get(self, job: Submitted) -> messages.Resource:
        """Ask once."""
        request = messages.GetTaskRequest(
            resource_meta=job.meta,
            task_category=messages.TaskCategory(name=job.kind),
            connection=Connection(secrets=dict(self.secrets)),
        )
        answer: messages.GetTaskResponse = await _called(self._stub.GetTask, request)
        return answer.resource

    async def phase(self, job: Submitted) -> str:
        """Ask for the phase alone."""
        return str(TaskExecution.Phase.Name((await self.get(job)).phase))

    async def until(self, job: Submitted, *phases: str, limit: float = 240) -> messages.Resource:
        """Ask until the phase is one of these, by default one that ends a task."""

        last = ""

        async def reached() -> messages.Resource | None:
            nonlocal last
            found = await self.get(job)
            last = f"{TaskExecution.Phase.Name(found.phase)}: {found.message}"
            return found if TaskExecution.Phase.Name(found.phase) in (phases or _TERMINAL) else None

        try:
            found = await until(reached, " or ".join(phases) or "an end", limit=limit)
        except AssertionError as error:
            raise AssertionError(f"{error}; last told was {last}") from None
        assert found is not None
        return found

    async def delete(self, job: Submitted, *, patient: bool = True) -> None:
        """Abort it. Raises AioRpcError; where it is not cancelled in time only after many tries, if ``patient``."""
        request = messages.DeleteTaskRequest(
            resource_meta=job.meta,
            task_category=messages.TaskCategory(name=job.kind),
            connection=Connection(secrets=dict(self.secrets)),
        )
        await _called(self._stub.DeleteTask, request, patient=patient)

    async def logs(self, job: Submitted, token: str = "") -> tuple[list[str], str]:
        """Return the lines, and the token to go on with."""
        request = messages.GetTaskLogsRequest(
            resource_meta=job.meta, task_category=messages.TaskCategory(name=job.kind), token=token
        )
        lines, after = [], ""
        # A stream is not begun anew: some of it may have come.
        async for answer in self._stub.GetTaskLogs(request, timeout=_PATIENCE):
            lines += [line.message for line in answer.body.lines]
            after = answer.header.token or after
        return lines, after

    async def metrics(self, job: Submitted) -> dict[str, float]:
        """Return the metrics by name."""
        request = messages.GetTaskMetricsRequest(
            resource_meta=job.meta, task_category=messages.TaskCategory(name=job.kind)
        )
        answer = await _called(self._stub.GetTaskMetrics, request)
        return {one.metric: one.data["value"] for one in answer.results}


async def _called(call: Any, request: Any, *, patient: bool = True) -> Any:  # a method of the stub, with its messages
    """Return the answer to a request within the deadline, or, on a machine that is busy, to the same request again.

    The platform repeats its calls, too: after a deadline it asks for the same attempt, or for the same job. A deletion
    is answered before it, with an error where it takes longer.
    """
    end = time.monotonic() + (_PATIENCE if patient else 0)
    while True:
        try:
            return await call(request, timeout=DEADLINE)
        except grpc.aio.AioRpcError as error:  # noqa: PERF203  # each try has its own
            is_late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED or "is not cancelled yet" in str(
                error.details()
            )
            if not is_late or time.monotonic() > end:
                raise


def _interface(task: Any) -> Any:
    return task.native_interface


def _render(template: Any, prefix: str, run: str) -> None:
    """Fill in the arguments of the container, as the platform does before it calls a connector."""
    values = {
        "{{.input}}": f"{prefix}/inputs.pb",
        "{{.outputPrefix}}": prefix,
        "{{.rawOutputDataPrefix}}": f"{prefix}/raw",
        "{{.checkpointOutputPrefix}}": f"{prefix}/checkpoint",
        "{{.prevCheckpointPrefix}}": f"{prefix}/before",
        "{{.runName}}": run,
        "{{.actionName}}": "a0",
        "{{.runStartTime}}": "2026-01-01T00:00:00+00:00",
    }
    for place, word in enumerate(template.container.args):
        for name, value in values.items():
            word = word.replace(name, value)
        template.container.args[place] = word


@contextmanager
def service(environ: Mapping[str, str], before: str = "") -> Iterator[str]:
    """Run flyte's connector service with these variables; yield its address. In the end it is killed.

    ``before`` is Python that runs in it first.
    """
    held = [_held_port(), _held_port()]
    port, metrics = (one.getsockname()[1] for one in held)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLYTE_", "SLURM_", "AWS_"))}
    start = f"{before}\nfrom flyte._bin.connect import main; main()"
    command = [sys.executable, "-c", start, "--port", str(port), "--prometheus_port", str(metrics)]
    with held[0], held[1], tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, env={**kept, "LOG_LEVEL": "30", **environ}, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait_for(port, process)
            yield f"127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(120)
            log.seek(0)
            print(log.read().decode(errors="replace")[-20_000:])  # noqa: T201  # shown by pytest beside a failure


def _held_port() -> socket.socket:
    """Return a socket whose port nobody gets by chance while it is open, not even as the near end of a connection.

    It takes no connections, and does not keep the service, which sets one of these options, from its port.
    """
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    one.bind(("127.0.0.1", 0))
    return one


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, "the connector service has ended"
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the connector service did not start in time")
