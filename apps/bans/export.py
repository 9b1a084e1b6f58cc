"""Export of a ban list, in formats that the import reads: text, CSV for a spreadsheet, JSON for a program."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from itertools import batched

from apps.bans.models import BanList
from apps.bans.selectors import filter_unexpired_bans, list_bans, map_hits

AT_ONCE = 2_000
HEADINGS = ("prefix", "comment", "direction", "author", "since", "until", "packets", "octets", "last hit")
_FORMULA = ("=", "+", "-", "@", "\t")


def iter_text(banlist: BanList) -> Iterator[str]:
    """Yield one line for each ban, its comment behind #; expired bans are left out."""
    for ban in filter_unexpired_bans(list_bans(banlist)).iterator(AT_ONCE):
        yield f"{ban.prefix_text} # {ban.comment}\n" if ban.comment else f"{ban.prefix_text}\n"


def iter_csv(banlist: BanList) -> Iterator[str]:
    """Yield all bans of the list with their hits, as CSV; times in ISO 8601."""
    yield _render_line(HEADINGS)
    for some in batched(list_bans(banlist).iterator(AT_ONCE), AT_ONCE):
        hits = map_hits(some)
        for ban in some:
            hit = hits.get(ban.prefix)
            ends, last = ban.expires.isoformat() if ban.expires else "", hit.last.isoformat() if hit and hit.last else ""
            author = ban.author.name if ban.author else ""
            counted = (hit.packets, hit.octets) if hit else (0, 0)
            yield _render_line(
                (
                    ban.prefix_text,
                    _escape_formula(ban.comment),
                    ban.direction,
                    _escape_formula(author),
                    ban.created.isoformat(),
                    ends,
                    *counted,
                    last,
                )
            )


def iter_json(banlist: BanList) -> Iterator[str]:
    """Yield all bans of the list without hits, as a JSON array of objects."""
    start = "["
    for ban in list_bans(banlist).iterator(AT_ONCE):
        ends = ban.expires.isoformat() if ban.expires else None
        author = ban.author.name if ban.author else None
        given = {"prefix": ban.prefix_text, "comment": ban.comment, "direction": ban.direction, "author": author}
        yield f"{start}\n{json.dumps(given | {'since': ban.created.isoformat(), 'until': ends}, ensure_ascii=False)}"
        start = ","
    yield "[]\n" if start == "[" else "\n]\n"


def _escape_formula(text: str) -> str:
    """Quote a text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _render_line(values: tuple[object, ...]) -> str:
    line = StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()
