"""Where the time goes between a commit and its confirmation: from the moments that a worker notes when NETZWART_MOMENTS is set."""

import re
from collections import defaultdict
from pathlib import Path
from statistics import median

MOMENT = re.compile(r"moment (\d+\.\d+) (.+)$")


class Log:
    """The worker's log from now on."""

    def __init__(self, file: Path) -> None:
        self._file, self._from = file, file.stat().st_size

    def told(self, commits: list[float]) -> str:
        """A table of medians: how long each moment came after the one before it, for commits at these Unix times; and then from now on."""
        with self._file.open(errors="replace") as log:
            log.seek(self._from)
            moments = [(float(found[1]), found[2]) for line in log if (found := MOMENT.search(line))]
            self._from = log.tell()
        spans: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
        for commit, following in zip(commits, [*commits[1:], float("inf")], strict=True):
            last = commit
            for place, (when, what) in enumerate((when, what) for when, what in moments if commit <= when < following):
                spans[place, what].append(((when - last) * 1000, (when - commit) * 1000))
                last = when
        often = [(key, pairs) for key, pairs in sorted(spans.items()) if len(pairs) > len(commits) / 4]
        lines = [
            f"  {what:<34}{median(ms for ms, _all in pairs):>8.1f}{median(all_ms for _ms, all_ms in pairs):>9.1f}  {len(pairs)} times"
            for (_place, what), pairs in often
        ]
        return "\n".join([f"  {'moment':<34}{'ms':>8}{'since':>9}", *lines])
