"""The launcher: starts the program that is chosen, and goes back to the one before if a trial fails. It is always the package's.

It needs no privilege beyond the agent's. A start is one decision about what is on the disk (choice.py), so a launcher that is killed
at any moment is simply started again. Only during a trial does it stay, as the parent of the program.
"""

import argparse
import ctypes
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import NoReturn

from gateway.programs.choice import ProgramChoice, ProgramStart, ProgramTrial, StartConditions, choose_start
from gateway.programs.launch import Launch
from gateway.programs.store import ProgramStore, compute_digest

PROGRAMS = "programs"  # in the state directory
PARTS = "package-parts"  # beside the package's program
STOPPING = 30.0  # seconds that a program has to end before it is killed; no packet depends on it
_LONGEST_PROBLEM = 300  # characters
_PR_SET_PDEATHSIG = 1  # linux/prctl.h

log = logging.getLogger("gateway")


def launch(arguments: list[str]) -> int:
    """Start a program with the command that follows the options: serve, or at boot restore. Return its exit status."""
    parser = argparse.ArgumentParser(prog="gateway launch", description="Start the chosen program of the agent")
    parser.add_argument("--state", required=True, type=Path, help="the agent's state directory")
    parser.add_argument("--allowed-by", required=True, type=Path, metavar="FILE", help="programs from the portal are taken if it exists")
    parser.add_argument("--packaged", type=Path, default=Path(sys.argv[0]), metavar="FILE", help="the package's program (default: this)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    launcher = Launcher(given.packaged, ProgramStore(given.state / PROGRAMS), given.allowed_by)
    return launcher.restore(given.command) if given.command[:1] == ["restore"] else launcher.serve(given.command)


@dataclass(frozen=True)
class Launcher:
    """A start. packaged: the package's program. allowed_by: the file of root that allows others."""

    packaged: Path
    store: ProgramStore
    allowed_by: Path

    def serve(self, command: list[str]) -> int:
        """Start the agent. Returns only after a trial: with the program's exit status, 1 if it was not even started."""
        launch, start = self._choose()
        if start.is_trial and start.choice.trial:
            return self._try(launch, start.choice.trial, command)
        return self._replace_process(launch, start.digest, command)

    def restore(self, command: list[str]) -> int:
        """Load the ruleset at boot with the program that was confirmed; with the package's, if that one fails. Changes no choice."""
        launch, start = self._read_start()
        kept = start.choice.kept
        if kept and kept in self.store.find_intact([kept]):
            done = subprocess.run(self._build_command(kept, command), env=launch.to_environment(os.environ), check=False)
            if done.returncode == 0:
                return 0
            log.error("program %s did not restore the ruleset (status %d): the package's program tries", kept[:12], done.returncode)
        return self._replace_process(launch, "", command)

    def _choose(self) -> tuple[Launch, ProgramStart]:
        """Decide, and store the decision. Without a disk to write to, no trial begins."""
        launch, start = self._read_start()
        if start.choice.problem:
            log.warning("program %s was given up: %s", start.choice.failed[:12], start.choice.problem)
        try:
            self.store.write(start.choice)
        except OSError as error:
            log.error("the choice of programs cannot be stored: %s", error.strerror)
            start = ProgramStart(start.choice, start.choice.kept) if start.is_trial else start
        return launch, start

    def _read_start(self) -> tuple[Launch, ProgramStart]:
        found = StartConditions(compute_digest(self.packaged), _read_boot_id(), self.allowed_by.exists(), frozenset())
        choice = self._read_choice(found.packaged)
        found = replace(found, intact=self.store.find_intact(choice.list_needed()))
        launch = Launch(
            str(self.store.directory),
            str(self.allowed_by),
            packaged=found.packaged,
            parts=_read_parts(self.packaged.with_name(PARTS)),
            boot=found.boot,
        )
        return launch, choose_start(choice, found)

    def _read_choice(self, packaged: str) -> ProgramChoice:
        try:
            return self.store.read() or ProgramChoice(packaged)
        except (OSError, ValueError) as error:
            log.error("the choice of programs cannot be read, so the package's program starts: %s", error)
            return ProgramChoice(packaged)

    def _build_command(self, digest: str, command: list[str]) -> list[str]:
        return [sys.executable, "-I", str(self.store.locate(digest) if digest else self.packaged), *command]

    def _replace_process(self, launch: Launch, digest: str, command: list[str]) -> NoReturn:
        launch = replace(launch, runs=digest or launch.packaged)
        os.execve(sys.executable, self._build_command(digest, command), launch.to_environment(os.environ))  # noqa: S606 - no shell is wanted

    def _try(self, launch: Launch, trial: ProgramTrial, command: list[str]) -> int:
        """Run the program on trial until it ends, or until its time is over and nobody has confirmed it."""
        digest = "" if trial.digest == launch.packaged else trial.digest
        log.info("program %s is on trial for %d s", trial.digest[:12], trial.within)
        if problem := self._check(digest, trial.within):
            self._end_trial(trial, problem)
            return 1
        ends = monotonic() + trial.within
        environment = replace(launch, runs=trial.digest, ends=ends).to_environment(os.environ)
        with subprocess.Popen(self._build_command(digest, command), env=environment, preexec_fn=_build_bond()) as program:
            _pass_on_signals(program)
            problem = self._await_end(program, trial, ends)
        self._end_trial(trial, problem)
        return max(program.returncode, 0)

    def _check(self, digest: str, within: float) -> str:
        """Let the program check itself. Return why it must not run; "" if it may."""
        command = self._build_command(digest, ["self-check", "--state", str(self.store.directory.parent)])
        command.insert(1, "-S")  # without any package of the machine: only the standard library
        try:
            done = subprocess.run(command, capture_output=True, timeout=within, preexec_fn=_build_bond(), check=False)
        except subprocess.TimeoutExpired:
            return f"its self-check did not end within {within} s"
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return f"its self-check failed: {(said or ['without a word'])[-1][:_LONGEST_PROBLEM]}" if done.returncode else ""

    def _await_end(self, program: "subprocess.Popen[bytes]", trial: ProgramTrial, ends: float) -> str:
        """Return when the program has ended: why the trial fails, if it is not over yet."""
        try:
            program.wait(max(ends - monotonic(), 0))
        except subprocess.TimeoutExpired:
            if self._is_open(trial):
                _stop(program)
                return f"the portal did not confirm it within {trial.within} s"
            program.wait()
        return f"it ended with status {program.returncode} before it was confirmed"

    def _end_trial(self, trial: ProgramTrial, problem: str) -> None:
        """Store that the trial has failed, unless it was confirmed or dropped: the program could do that until it had ended."""
        with suppress(OSError, ValueError):  # otherwise the next start does it, in less precise words
            choice = self.store.read()
            if choice and choice.trial == trial:
                self.store.write(choice.go_back(problem))

    def _is_open(self, trial: ProgramTrial) -> bool:
        try:
            choice = self.store.read()
        except (OSError, ValueError):
            return True
        return choice is None or choice.trial == trial


def _stop(program: "subprocess.Popen[bytes]") -> None:
    program.terminate()
    try:
        program.wait(STOPPING)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


def _pass_on_signals(program: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: program.send_signal(received))


def _build_bond() -> Callable[[], None]:
    """Return what makes a child end with this process: PR_SET_PDEATHSIG, prctl(2)."""
    parent, library = os.getpid(), ctypes.CDLL(None)

    def bind() -> None:
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return bind


def _read_boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _read_parts(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
