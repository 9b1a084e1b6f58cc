"""Explains the time between a commit and its confirmation, from the moments that a worker logs when NETZWART_MOMENTS is set."""

import re
from collections import defaultdict
from pathlib import Path
from statistics import median

MOMENT = re.compile(r"moment (\d+\.\d+) (.+)$")

type Moment = tuple[float, str]  # Unix time, and the event


class MomentLog:
    """The worker's log from now on."""

    def __init__(self, file: Path) -> None:
        self._file, self._from = file, file.stat().st_size

    def render_moments(self, timed: list[tuple[float, float]]) -> str:
        """Render the time between each moment and the one before it: medians, and those of the slowest change.

        timed: changes with the Unix time of their commit and their milliseconds. Continues reading the log where it last ended.
        """
        moments = self._read()
        ends = [when for when, _ms in timed[1:]] + [float("inf")]
        ways = [[each for each in moments if when <= each[0] < end] for (when, _ms), end in zip(timed, ends, strict=True)]
        slowest = max(range(len(timed)), key=lambda at: timed[at][1])
        return "\n".join(
            [
                f"  {'moment':<34}{'ms':>8}{'since':>9}",
                *_render_medians([when for when, _ms in timed], ways),
                f"  the slowest, {timed[slowest][1]:.0f} ms:",
                *_render_rows(timed[slowest][0], ways[slowest]),
            ]
        )

    def _read(self) -> list[Moment]:
        with self._file.open(errors="replace") as log:
            log.seek(self._from)
            found = [(float(line[1]), line[2]) for line in map(MOMENT.search, log.read().splitlines()) if line]
            self._from = log.tell()
        return found


def _render_medians(commits: list[float], ways: list[list[Moment]]) -> list[str]:
    spans: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for commit, way in zip(commits, ways, strict=True):
        last = commit
        for place, (when, what) in enumerate(way):
            spans[place, what].append(((when - last) * 1000, (when - commit) * 1000))
            last = when
    often = [(what, pairs) for (_place, what), pairs in sorted(spans.items()) if len(pairs) > len(commits) / 4]
    return [f"  {what:<34}{median(ms for ms, _ in pairs):>8.1f}{median(all_ms for _, all_ms in pairs):>9.1f}" for what, pairs in often]


def _render_rows(commit: float, way: list[Moment]) -> list[str]:
    befores = [commit, *(when for when, _what in way)]
    return [
        f"  {what:<34}{(when - before) * 1000:>8.1f}{(when - commit) * 1000:>9.1f}"
        for (when, what), before in zip(way, befores, strict=False)
    ]
