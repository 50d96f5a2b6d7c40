"""Handles of single daemons: stop, start, kill, freeze, thaw."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from cluster.errors import ClusterError
from cluster.space import Process, enter_command, members, wait_until
from cluster.state import State

SERVICES = ("munge", "database", "slurmdbd", "slurmctld", "slurmrestd", "sshd")
# What a busy machine may need; a daemon that is killed for being slow has not saved its state.
_STOP_SECONDS = 60.0
_ANSWER_SECONDS = 120.0


class Service:
    """One daemon of a running cluster."""

    def __init__(self, state: State, name: str) -> None:
        self.state = state
        self.name = name

    def process(self) -> Process | None:
        """Return the daemon's main process, None when it does not run."""
        tree = self.processes()
        return tree[0] if tree else None

    def processes(self) -> list[Process]:
        """Return the daemon's main process and its descendants; none when it does not run."""
        try:
            inside, started = map(int, (self._folder / f"{self.name}.pid").read_text().split())
        except (OSError, ValueError):
            return []
        if self.state.holder is None:
            return []
        everything = list(members(self.state.holder))
        tree = [process for number, _, process in everything if (number, process.started) == (inside, started)]
        for process in tree:  # grows while it is walked
            tree += [child for _, parent, child in everything if parent == process.pid]
        return tree

    def status(self) -> str:
        """Return running, frozen or stopped."""
        main = self.process()
        if main is None:
            return "stopped"
        return "frozen" if main.frozen() else "running"

    def freeze(self) -> None:
        """Stop all its processes where they are; connections stay open and nobody answers."""
        self._running()
        self._hold_still()

    def thaw(self) -> None:
        """Let its processes go on; no harm when they run, or are gone."""
        for process in self.processes():
            process.send(signal.SIGCONT)

    def stop(self) -> None:
        """End it as an administrator would; children that serve others (sessions of sshd, running jobs) go on."""
        tree = self.processes()
        if tree:
            tree[0].send(signal.SIGTERM)
            self.thaw()
            if not tree[0].wait_gone(_STOP_SECONDS):
                self.kill()

    def kill(self) -> None:
        """End it and its children at once (SIGKILL)."""
        # Still first: a child that sshd makes in this moment, for a new connection, would outlive it.
        self._hold_still()
        tree = self.processes()
        for process in tree:
            process.send(signal.SIGKILL)
        if not all(process.wait_gone(_STOP_SECONDS) for process in tree):
            raise ClusterError(f"{self.name} does not end", "look at it with ps; it may hang in the kernel")

    def start(self) -> None:
        """Start it unless it runs, and wait until it answers."""
        if self.process() is None:
            self._inside("spawn", timeout=60)
        if not wait_until(self.answers, _ANSWER_SECONDS, interval=0.03):
            raise ClusterError(f"{self.name} does not answer", f"read {self.state.folder}/logs/{self.name}.log")
        if self.name == "slurmctld":
            self._await_nodes()

    def restart(self) -> None:
        """Stop and start it."""
        self.stop()
        self.start()

    def answers(self) -> bool:
        """Return whether it answers a question of its own protocol."""
        try:
            return self._inside("ready", timeout=30) == 0
        except subprocess.TimeoutExpired:
            return False

    @property
    def _folder(self) -> Path:
        return self.state.folder / "data/run"

    def _hold_still(self) -> None:
        def still() -> bool:
            # Looked up each time: a child may have been born before its parent was stopped.
            moving = [process for process in self.processes() if not process.frozen()]
            for process in moving:
                process.send(signal.SIGSTOP)
            return not moving

        if not wait_until(still, _STOP_SECONDS):
            raise ClusterError(f"{self.name} does not freeze", "look at it with ps; it may hang in the kernel")

    def _running(self) -> list[Process]:
        tree = self.processes()
        if not tree:
            raise ClusterError(f"{self.name} of cluster {self.state.name} is not running", "start it first")
        return tree

    def _await_nodes(self) -> None:
        """Wait for the nodes that run: for 2 to 3 s a slurmctld that came back calls them unknown and starts no job."""
        running = [node for node in self.state.nodes if Service(self.state, node).status() == "running"]

        def known() -> bool:
            try:
                told = self._run(["sinfo", "-h", "-N", "-n", ",".join(running), "-o", "%t"], timeout=30).stdout.split()
            except subprocess.TimeoutExpired:
                return False
            return bool(told) and not any(word.startswith("unk") or word.endswith("*") for word in told)

        if running and not wait_until(known, _ANSWER_SECONDS, interval=0.03):
            raise ClusterError(f"slurmctld does not hear of {', '.join(running)}", "look at it with sinfo")

    def _inside(self, verb: str, timeout: float) -> int:
        return self._run(["/usr/local/sbin/cluster-start", verb, self.name], timeout).returncode

    def _run(self, argv: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str]:
        if self.state.holder is None or not self.state.running():
            raise ClusterError(
                f"cluster {self.state.name} is not running", f"scripts/cluster up --name {self.state.name}"
            )
        command = enter_command(self.state.holder, argv, "root", self.state.environment())
        return subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", timeout=timeout)
