"""Starts the process that holds a lab, and waits until it reports that the lab is up."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import IO

from lab.plan import LabPlan
from lab.process import ProcessRef
from lab.program import build_module_command

MEANINGS = {
    "cannot change root filesystem propagation": "the root directory is not a mount point, as in a plain chroot;"
    " bind it onto itself before chroot: mount --bind DIR DIR",
}
"""What to do about words of `unshare` that do not say so themselves."""


class LabError(Exception):
    """The lab could not be built; the message quotes the error output of the programs."""


@dataclass(frozen=True, slots=True)
class LaunchedLab:
    """A started lab. `program` is `unshare`, outside; `holder` is its child, the first process inside; `shortfalls` are
    sentences.
    """

    program: subprocess.Popen[str]
    holder: ProcessRef
    shortfalls: tuple[str, ...]

    def end(self) -> None:
        self.holder.kill()
        for stream in (self.program.stdin, self.program.stdout):
            if stream is not None:
                stream.close()
        self.program.wait(timeout=10)


def build_unshare_command() -> tuple[str, ...]:
    """Return the start of a command that runs another one in fresh namespaces, which end with it. Works with and without root."""
    command = ("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child")
    return command if os.geteuid() == 0 else (*command, "--user", "--map-root-user")


def explain(said: str) -> str:
    """Return a program's error output, followed by an explanation if one is known."""
    meant = [f"({meaning})" for words, meaning in MEANINGS.items() if words in said]
    return " ".join([said.strip(), *meant])


def launch(plan: LabPlan, *, detached: bool) -> LaunchedLab:
    """Start a lab. An attached lab lives until this process closes its pipe or ends, for whatever reason. Raise `LabError`."""
    options = ["--detached"] if detached else []
    with tempfile.TemporaryFile("w+") as complaints:
        program = subprocess.Popen(
            [*build_unshare_command(), *build_module_command("lab.holder", *options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            start_new_session=True,  # Ctrl-C is for the program that uses the lab
        )
        ready = _converse(program, plan)
        if not ready:
            program.kill()
            program.wait()
            complaints.seek(0)
            raise LabError(f"the lab did not come up: {explain(complaints.read())}")
    told = json.loads(ready)
    return LaunchedLab(program, ProcessRef.from_pid(told["pid"]), tuple(told["shortfalls"]))


def _converse(program: subprocess.Popen[str], plan: LabPlan) -> str:
    stdin, stdout = _get_pipes(program)
    try:
        stdin.write(json.dumps(plan) + "\n")
        stdin.flush()
    except BrokenPipeError:
        return ""
    return stdout.readline()


def _get_pipes(program: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    if program.stdin is None or program.stdout is None:
        raise TypeError("the program was started without pipes")
    return program.stdin, program.stdout
