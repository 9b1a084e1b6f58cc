"""Preview of an import."""

from dataclasses import dataclass
from typing import Any

from apps.bans.bulk_selection import is_typed_number_missing
from apps.bans.feed_import import ImportOutcome
from apps.bans.models import Upload
from apps.bans.refusal_texts import explain_line
from apps.bans.uploads import import_upload
from apps.lib.errors import Problem


@dataclass(frozen=True)
class ImportPreview:
    """Preview of an import; `problem` says why it cannot be done."""

    outcome: ImportOutcome
    problem: str = ""

    @property
    def removed_count(self) -> int:
        return self.outcome.removed

    @property
    def is_possible(self) -> bool:
        return self.outcome.imported and not self.problem

    @property
    def asks_for_number(self) -> bool:
        return is_typed_number_missing(self.outcome.removed, 0)

    @property
    def more(self) -> int:
        return max(0, self.outcome.bad_count - len(self.outcome.bad))

    @property
    def bad_lines(self) -> list[str]:
        """The first bad lines, as sentences."""
        return [explain_line(line) for line in self.outcome.bad]


def build_preview(upload: Upload, by: Any) -> ImportPreview:
    """Run the import as a dry run; if bad lines prevent it, run it again without them."""
    outcome = ImportOutcome(False)
    try:
        outcome = import_upload(upload, by=by, skip_invalid=False, dry_run=True)
        return ImportPreview(outcome if outcome.imported else import_upload(upload, by=by, skip_invalid=True, dry_run=True))
    except Problem as problem:
        return ImportPreview(outcome, str(problem))
