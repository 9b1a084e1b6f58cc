"""A mutant: one fault, and the test that catches it."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


class MutantError(ValueError):
    """A mutant that no longer fits the code."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault and its test. `before` occurs exactly once in `file` and becomes `after`; `seen_by` is the pytest id of the failing test."""

    name: str
    file: str
    before: str
    after: str
    seen_by: str

    def apply(self, root: Path) -> str:
        """Put the fault into the tree at `root`; return the file's original text. Raises MutantError."""
        path = root / self.file
        text = path.read_text()
        if text.count(self.before) != 1:
            raise MutantError(f"{self.name}: {self.before!r} stands {text.count(self.before)} times in {self.file}, not once")
        path.write_text(text.replace(self.before, self.after))
        return text

    def undo(self, root: Path, text: str) -> None:
        """Write back the text that `apply` returned."""
        (root / self.file).write_text(text)

    def check(self, root: Path = ROOT) -> None:
        """Raise MutantError if the file, the place or the test is missing."""
        if (root / self.file).read_text().count(self.before) != 1:
            raise MutantError(f"{self.name}: {self.before!r} does not stand exactly once in {self.file}")
        file, _, test = self.seen_by.partition("::")
        if f"def {test.partition('[')[0]}(" not in (root / file).read_text():
            raise MutantError(f"{self.name}: there is no {test} in {file}")
