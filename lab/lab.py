"""Public interface of a lab: start it, run programs in its nodes, connect from one host to another, end it."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self

from lab.answer import HostAnswer, parse_answer
from lab.connect import Attempt, NoAnswerError
from lab.launch import LaunchedLab, launch
from lab.plan import build_plan, build_rebuild_plan
from lab.process import ProcessRef
from lab.program import build_module_command
from lab.topology import Topology

type Stream = int | IO[str] | None


@dataclass(frozen=True, slots=True)
class Lab:
    """A running lab. `shortfalls` are sentences about what this kernel refused to do."""

    topology: Topology
    holder: ProcessRef
    shortfalls: tuple[str, ...] = ()
    launched: LaunchedLab | None = None

    @classmethod
    def start(cls, topology: Topology, *, detached: bool = False) -> Self:
        """Start a lab. It ends with the `with` block, or with this process, however that ends; a detached lab ends only by
        `stop`.
        """
        launched = launch(build_plan(topology), detached=detached)
        return cls(topology, launched.holder, launched.shortfalls, launched)

    def stop(self) -> None:
        """End the lab; return when everything in it has ended. A lab that has already ended is not an error."""
        if self.launched is not None:
            self.launched.end()
        else:
            self.holder.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def build_command(self, node: str, command: Sequence[str]) -> tuple[str, ...]:
        """Return the command that runs this one in the node. Raise `KeyError` if there is no such node."""
        return self._build_module_command("lab.enter", node, *command)

    def rebuild(self, node: str) -> None:
        """Destroy the node's namespace with everything in it, and build it again, bare.

        Raise `subprocess.CalledProcessError`; `ValueError` if the node is a host that answers.
        """
        if self.topology.get_node(node).answers:
            raise ValueError(f"{node} runs a server, which would be lost; only nodes that do not answer can be rebuilt")
        command = build_module_command("lab.rebuild", str(self.holder.pid), str(self.holder.started))
        text = json.dumps(build_rebuild_plan(self.topology, node))
        subprocess.run(command, input=text, capture_output=True, text=True, timeout=90, check=True)

    def run(
        self, node: str, command: Sequence[str], *, text: str | None = None, timeout: float = 30, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run the command to its end. `text` is its standard input; `timeout` is in seconds.

        Raise `subprocess.CalledProcessError` for an exit status other than 0, unless `check` is false.
        """
        return subprocess.run(self.build_command(node, command), input=text, capture_output=True, text=True, timeout=timeout, check=check)

    def popen(
        self,
        node: str,
        command: Sequence[str],
        *,
        stdin: Stream = None,
        stdout: Stream = subprocess.PIPE,
        stderr: Stream = None,
        own_session: bool = False,
    ) -> subprocess.Popen[str]:
        """Start the command. Signals to the returned process reach the command; SIGKILL ends both.

        own_session: Ctrl-C reaches this program alone, and not the command.
        """
        words = self.build_command(node, command)
        return subprocess.Popen(words, stdin=stdin, stdout=stdout, stderr=stderr, text=True, start_new_session=own_session)

    def connect(
        self, node: str, protocol: str, host: str, port: int, *, timeout: float = 2, source: str = "", source_port: int = 0
    ) -> HostAnswer:
        """Connect from the node and return the other end's answer. Raise `NoAnswerError` with the reason."""
        process = self.start_attempt(node, Attempt(protocol, host, port, timeout, source, source_port))
        output, reason = process.communicate(timeout=timeout + 10)
        if process.returncode != 0:
            raise NoAnswerError(reason.strip())
        return parse_answer(output)

    def start_attempt(self, node: str, attempt: Attempt) -> subprocess.Popen[str]:
        """Start to connect. The process prints the answer and exits with 0, or prints the reason to standard error and exits with
        1.
        """
        what = (attempt.protocol, attempt.host, str(attempt.port), str(attempt.timeout), attempt.source, str(attempt.source_port))
        command = self._build_module_command("lab.connect", node, *what)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def _build_module_command(self, name: str, node: str, *arguments: str) -> tuple[str, ...]:
        return build_module_command(name, str(self.holder.pid), str(self.holder.started), self.topology.get_node(node).name, *arguments)
