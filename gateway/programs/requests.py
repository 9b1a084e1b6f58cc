"""Answers to the portal's requests about the agent's program: store it, try it, keep it, drop it (firewall/agent_programs.py)."""

import os
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from time import monotonic

from firewall.agent_programs import LARGEST_PROGRAM, TRIAL_SECONDS, DropProgram, KeepProgram, ProgramIs, StoreProgram, TryProgram
from firewall.codec import WireError
from gateway.programs.choice import ProgramChoice, ProgramTrial
from gateway.programs.launch import Launch, read_launch
from gateway.programs.store import ProgramStore
from gateway.table import TableError

NOT_LAUNCHED = "this agent was not started by the package's launcher: install the package of the portal's release once"
NOT_ALLOWED = "this gateway does not take programs from the portal: allow it with “netzwart-join --allow-upgrades” there"
_HEXADECIMAL = frozenset("0123456789abcdef")


class AgentPrograms:
    """The programs of a running agent. launch: what its launcher said; None: it has none. steady: seconds of CLOCK_MONOTONIC."""

    def __init__(self, launch: Launch | None, steady: Callable[[], float] = monotonic) -> None:
        self._launch, self._steady = launch or Launch(), steady
        self._store = ProgramStore(Path(self._launch.directory))
        self._stored = ""
        self._kept = False
        self.wants_restart = False

    @property
    def is_on_trial(self) -> bool:
        """True if this very program is on trial, or another one is about to be."""
        return self.wants_restart or (self._launch.ends > 0 and not self._kept)

    def read(self) -> ProgramIs:
        """Return what runs, and what became of the last trial."""
        if not self._launch.directory:
            return ProgramIs(NOT_LAUNCHED)
        choice = self._read_choice()
        trial = choice.trial.digest if choice.trial else ""
        obstacle = "" if self._is_allowed() else NOT_ALLOWED
        told = (self._launch.runs, self._launch.packaged, self._launch.parts)
        return ProgramIs(obstacle, *told, self._stored, trial, choice.failed, choice.problem)

    def change(self, request: StoreProgram | TryProgram | KeepProgram | DropProgram) -> ProgramIs:
        """Store a program, or begin, keep or end a trial. The agent must restart if `wants_restart` is true afterwards.

        Raises TableError, WireError or OSError, and nothing has changed.
        """
        match request:
            case StoreProgram():
                self._store_program(request)
            case TryProgram():
                self._try(request)
            case KeepProgram():
                self._keep(request)
            case DropProgram():
                self._drop()
        return self.read()

    def _store_program(self, request: StoreProgram) -> None:
        self._refuse_unless_allowed()
        if self.is_on_trial:
            raise TableError(self._explain_trial())
        _check_content(request)
        self._stored = ""
        self._store.remove_except(self._read_choice().list_needed() | {self._launch.runs})
        self._store.add(request.digest, request.content)
        self._stored = request.digest

    def _try(self, request: TryProgram) -> None:
        self._refuse_unless_allowed()
        if request.within not in TRIAL_SECONDS:
            raise WireError(f"request.within: {request.within} s is not between {TRIAL_SECONDS[0]} and {TRIAL_SECONDS[-1]}")
        choice = self._read_choice()
        if choice.trial and choice.trial.digest == request.digest:
            return  # it was asked for already, and the answer was lost
        if self.is_on_trial:
            raise TableError(self._explain_trial())
        if request.digest != self._stored:
            raise TableError(f"program {request.digest[:12]} is not stored here; send it first")
        self._store.write(choice.begin_trial(ProgramTrial(request.digest, request.within, self._launch.boot)))
        self.wants_restart = True

    def _keep(self, request: KeepProgram) -> None:
        choice = self._read_choice()
        if choice.trial is None and self._launch.runs == request.digest:
            return
        if choice.trial is None or not choice.trial.started or not self._launch.runs == choice.trial.digest == request.digest:
            raise TableError(f"program {request.digest[:12]} is not on trial here: {choice.problem or 'another one runs'}")
        if self._steady() >= self._launch.ends:
            raise TableError(f"program {request.digest[:12]} was not confirmed in time, and goes back")
        self._store.write(choice.keep())
        self._kept = True
        self._store.remove_except({request.digest})

    def _drop(self) -> None:
        choice = self._read_choice()
        self._stored = ""
        if choice.trial:
            self._store.write(choice.go_back("the portal took it back"))
            self.wants_restart = True

    def _explain_trial(self) -> str:
        return f"program {self._launch.runs[:12]} is on trial here; wait until it is confirmed or goes back"

    def _is_allowed(self) -> bool:
        return bool(self._launch.allowed_by) and Path(self._launch.allowed_by).exists()

    def _refuse_unless_allowed(self) -> None:
        if not self._launch.directory:
            raise TableError(NOT_LAUNCHED)
        if not self._is_allowed():
            raise TableError(NOT_ALLOWED)

    def _read_choice(self) -> ProgramChoice:
        try:
            return self._store.read() or ProgramChoice(self._launch.packaged)
        except (OSError, ValueError) as error:
            raise TableError(f"{self._store.directory}: the choice of programs cannot be read: {error}") from error


def _check_content(request: StoreProgram) -> None:
    if len(request.digest) != 64 or not _HEXADECIMAL.issuperset(request.digest):
        raise WireError("request.digest: not a SHA-256 in hexadecimal")
    if len(request.content) > LARGEST_PROGRAM:
        raise WireError(f"request.content: {len(request.content)} octets are more than {LARGEST_PROGRAM}")
    if sha256(request.content).hexdigest() != request.digest:
        raise WireError("request.content: it does not have the digest that was announced")
    if not _is_program(request.content):
        raise WireError("request.content: not a zip application, as the agent is one")


def _is_program(content: bytes) -> bool:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            return "__main__.py" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def build_agent_programs(environment: Mapping[str, str] = os.environ) -> AgentPrograms:
    """Return the programs of the agent in this process."""
    return AgentPrograms(read_launch(environment))
