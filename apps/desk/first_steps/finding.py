"""Finding of a check of the first steps."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepFinding:
    """The outcome of a check: whether the step is done, and what was found.

    url: the page where it is done, if it is not the step's own. lines: what was found in detail.
    """

    done: bool
    words: str
    url: str = ""
    lines: Sequence[str] = ()
