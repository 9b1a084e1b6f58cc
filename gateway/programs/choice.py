"""Choice of the program with which the agent starts: the package's, one that was confirmed, or one on trial.

A program on trial is started once. Whatever ends it before it is confirmed (a crash, a power cut, the end of its time), the next
start takes the program before. Pure: the launcher of an older package reads what a newer program wrote, so fields are only added.
"""

from dataclasses import dataclass, replace

INTERRUPTED = "it ended before it was confirmed"
BOOTED = "the machine restarted before it was confirmed"
DAMAGED = "its file is damaged"
FORBIDDEN = "programs from the portal were forbidden on this gateway"
INSTALLED = "the gateway's package was installed meanwhile"


@dataclass(frozen=True, slots=True)
class ProgramTrial:
    """A trial. within: its seconds. boot: the kernel's boot id when it was requested. started: the program was started."""

    digest: str
    within: int
    boot: str
    started: bool = False


@dataclass(frozen=True, slots=True)
class ProgramChoice:
    """What is known about programs from one start to the next.

    packaged: the package's program when this was chosen. kept: the program that was confirmed last, "" for the package's. failed,
    problem: the program of the last trial that went back, or that was given up, and why.
    """

    packaged: str
    kept: str = ""
    trial: ProgramTrial | None = None
    failed: str = ""
    problem: str = ""

    def begin_trial(self, trial: ProgramTrial) -> "ProgramChoice":
        """Return the choice with this trial, for the next start."""
        return replace(self, trial=trial, failed="", problem="")

    def go_back(self, problem: str) -> "ProgramChoice":
        """Return the choice without its trial. problem: why; the choice itself if there is no trial."""
        return replace(self, trial=None, failed=self.trial.digest, problem=problem) if self.trial else self

    def keep(self) -> "ProgramChoice":
        """Return the choice with the program on trial as the confirmed one."""
        if self.trial is None:
            return self
        kept = "" if self.trial.digest == self.packaged else self.trial.digest
        return ProgramChoice(self.packaged, kept)

    def list_needed(self) -> frozenset[str]:
        """Return the programs whose files are needed for the next starts."""
        return frozenset({self.kept, self.trial.digest if self.trial else ""} - {""})


@dataclass(frozen=True, slots=True)
class StartConditions:
    """What a start finds. packaged: the package's program. intact: programs in the store whose files have their digests."""

    packaged: str
    boot: str
    allowed: bool
    intact: frozenset[str]


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """How to start. choice: to be stored before. digest: "" for the package's program."""

    choice: ProgramChoice
    digest: str
    is_trial: bool = False


def choose_start(choice: ProgramChoice, found: StartConditions) -> ProgramStart:
    """Return how to start. Whatever the choice says, the package's program is there; it wins as soon as it is another one."""
    if choice.packaged != found.packaged or not found.allowed:
        reason = INSTALLED if choice.packaged != found.packaged else FORBIDDEN
        return ProgramStart(_discard(choice, found.packaged, reason), "")
    if choice.trial is None:
        return _start_kept(choice, found)
    if problem := _find_problem(choice.trial, found):
        return _go_back(choice.go_back(problem), found)
    return ProgramStart(replace(choice, trial=replace(choice.trial, started=True)), choice.trial.digest, is_trial=True)


def _discard(choice: ProgramChoice, packaged: str, reason: str) -> ProgramChoice:
    """Return a choice of the package's program. It says what is given up, if anything is."""
    given_up = choice.trial.digest if choice.trial else choice.kept
    return ProgramChoice(packaged, failed=given_up or choice.failed, problem=reason if given_up else choice.problem)


def _find_problem(trial: ProgramTrial, found: StartConditions) -> str:
    if trial.started:
        return INTERRUPTED if trial.boot == found.boot else BOOTED
    if trial.boot != found.boot:
        return BOOTED
    return "" if trial.digest in found.intact | {found.packaged} else DAMAGED


def _go_back(choice: ProgramChoice, found: StartConditions) -> ProgramStart:
    """Return the start after a trial that failed. That one is told even if the kept program is damaged too, or it would be tried again."""
    start = _start_kept(choice, found)
    return replace(start, choice=replace(start.choice, failed=choice.failed, problem=choice.problem))


def _start_kept(choice: ProgramChoice, found: StartConditions) -> ProgramStart:
    if not choice.kept or choice.kept in found.intact:
        return ProgramStart(choice, choice.kept)
    return ProgramStart(_discard(replace(choice, trial=None), found.packaged, DAMAGED), "")
