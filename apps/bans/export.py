"""A ban list as a file: text as the import reads it, or CSV for a spreadsheet."""

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import batched

from apps.bans.models import BanList
from apps.bans.selectors import alive, bans_of, hits_of

AT_ONCE = 2_000
HEADINGS = ("prefix", "comment", "author", "since", "ends", "packets", "octets", "last hit")
_FORMULA = ("=", "+", "-", "@", "\t")


def as_text(banlist: BanList) -> Iterator[str]:
    """One ban in each line, its comment behind #; those that have ended are left out."""
    for ban in alive(bans_of(banlist)).iterator(AT_ONCE):
        yield f"{ban.shown} # {ban.comment}\n" if ban.comment else f"{ban.shown}\n"


def as_csv(banlist: BanList) -> Iterator[str]:
    """All bans of the list with their hits; times in ISO 8601."""
    yield _line(HEADINGS)
    for some in batched(bans_of(banlist).iterator(AT_ONCE), AT_ONCE):
        hits = hits_of(some)
        for ban in some:
            hit = hits.get(ban.prefix)
            ends, last = ban.expires.isoformat() if ban.expires else "", hit.last.isoformat() if hit and hit.last else ""
            author = ban.author.name if ban.author else ""
            counted = (hit.packets, hit.octets) if hit else (0, 0)
            yield _line((ban.shown, _harmless(ban.comment), _harmless(author), ban.created.isoformat(), ends, *counted, last))


def _harmless(text: str) -> str:
    """No spreadsheet takes a comment for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _line(values: tuple[object, ...]) -> str:
    line = StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()
