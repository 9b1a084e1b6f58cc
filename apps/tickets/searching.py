"""Full text search in tickets: words of the whole thread, German and English, and the beginning of the last one.

What people type is read by websearch_to_tsquery, which takes anything (PostgreSQL manual, 12.3.2): words, "phrases", or, -without.

What many tickets have is found by looking through the newest ones; what few have, by the index (GIN), which cannot give the newest first
and must gather all hits before it gives any. A first look says which of the two it is.
"""

import re
from typing import Any, Final

from django.contrib.postgres.search import quote_lexeme
from django.db import connection
from django.db.models import QuerySet

from apps.tickets.keyset import KeysetOrder
from apps.tickets.models import Ticket
from apps.tickets.thread import resolve_merged

LANGUAGES: Final = ("german", "english", "simple")  # simple: names, and beginnings of words
FIRST: Final = 300  # tickets of the first look
MANY: Final = 4  # hits among them that make it many
FEW: Final = 8000  # hits that the index gives at most
STEP: Final = 1500  # tickets that are looked through at once, after the first look
STEPS: Final = 6
_NUMBER: Final = re.compile(r"#?([1-9][0-9]{0,8})")
_LAST: Final = re.compile(r"(?:^|\s)(\w{2,})$")
_READ: Final = f"SELECT {', '.join(f"websearch_to_tsquery('{each}', %s)::text" for each in LANGUAGES)}"
_AMONG: Final = """
    SELECT ticket_id FROM (SELECT ticket_id, search FROM tickets_words WHERE ticket_id = ANY(%(pks)s) OFFSET 0) words
    WHERE search @@ %(asked)s::tsquery"""  # OFFSET 0: the index is not asked, whatever the planner thinks of it
_INDEX: Final = "SELECT ticket_id FROM tickets_words WHERE search @@ %(asked)s::tsquery LIMIT %(most)s"


def parse_number(text: str) -> int:
    """1203 of `#1203` and `1203`; 0 where it is none."""
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else 0


def build_query(text: str) -> str:
    """What the words mean in either language, as a tsquery; the last may go on. "" where nothing is left to look for."""
    last = _LAST.search(text)
    if last is None or '"' in text:
        return _join_with_or(_parse_words(text))
    begins = f"{quote_lexeme(last[1].lower())}:*"
    *stemmed, _simple = _parse_words(text)  # the beginning of a word finds the word itself
    before = _join_with_or(_parse_words(text[: last.start()].strip()))
    return _join_with_or([*stemmed, f"({before}) & {begins}" if before else begins])


def search_page(rows: QuerySet[Ticket], text: str, order: KeysetOrder, after: str, size: int) -> tuple[list[Ticket], str]:
    """The tickets of one page that the text finds, and where the next page begins, "" after the last."""
    if (asked_for := parse_number(text)) and (itself := rows.filter(pk=resolve_merged(asked_for)).first()):
        return [itself], ""
    asked = build_query(text)
    if not asked:
        return [], ""
    hits, goes_on = _scan_newest(rows, asked, order, after, size, [FIRST])
    if goes_on and len(hits) <= size:
        few = _list_few_ids(asked) if len(hits) < MANY else None
        if few is not None:
            found = list(order.after(rows.filter(pk__in=few), after)[: size + 1])
            return found[:size], order.token(found[size - 1]) if len(found) > size else ""
        more, goes_on = _scan_newest(rows, asked, order, goes_on, size - len(hits), [STEP] * STEPS)
        hits += more
    shown = list(rows.filter(pk__in=[hit.pk for hit in hits[:size]]).order_by(*order.columns))
    return shown, order.token(hits[size - 1]) if len(hits) > size else goes_on


def _scan_newest(
    rows: QuerySet[Ticket], asked: str, order: KeysetOrder, after: str, size: int, steps: list[int]
) -> tuple[list[Ticket], str]:
    """Those that it finds among the next ones, until there are more than a page; and where to go on, "" at the end."""
    light, hits = rows.select_related(None).only(*(column.removeprefix("-") for column in order.columns)), list[Ticket]()
    for step in steps:
        looked = list(order.after(light, after)[:step])
        found = _fetch_ids(_AMONG, pks=[row.pk for row in looked], asked=asked)
        hits += [row for row in looked if row.pk in found]
        if len(looked) < step:
            return hits, ""
        after = order.token(looked[-1])
        if len(hits) > size:
            break
    return hits, after


def _list_few_ids(asked: str) -> set[int] | None:
    """The ids of all tickets that it finds, by the index; None when they are many."""
    found = _fetch_ids(_INDEX, asked=asked, most=FEW)
    return found if len(found) < FEW else None


def _fetch_ids(sql: str, **given: Any) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return {pk for (pk,) in cursor.fetchall()}


def _parse_words(text: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_READ, [text] * len(LANGUAGES))
        return list(cursor.fetchone())


def _join_with_or(queries: list[str]) -> str:
    """One that finds what any of them finds; each is asked once."""
    return " | ".join(f"({each})" for each in dict.fromkeys(queries) if each)
