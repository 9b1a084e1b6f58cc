"""Full text search in tickets: words of the whole thread, in German and English; the last word may be the beginning of one.

websearch_to_tsquery parses the input and accepts anything (PostgreSQL manual, 12.3.2): words, "phrases", or, -without.

Words of many tickets are searched by a scan of the newest tickets; words of few tickets by the index (GIN), which cannot return the
newest first and must collect all hits before it returns any. A first scan decides which of the two to use.
"""

import re
from typing import Any, Final

from django.contrib.postgres.search import quote_lexeme
from django.db import connection
from django.db.models import QuerySet

from apps.tickets.keyset import KeysetOrder
from apps.tickets.models import Ticket
from apps.tickets.thread import resolve_merged

LANGUAGES: Final = ("german", "english", "simple")  # simple: for names and beginnings of words
FIRST: Final = 300  # tickets of the first scan
MANY: Final = 4  # from this number of hits among them on, the scan continues
FEW: Final = 8000  # the index is used for fewer hits than this
STEP: Final = 1500  # tickets that are scanned at once, after the first scan
STEPS: Final = 6
_NUMBER: Final = re.compile(r"#?([1-9][0-9]{0,8})")
_LAST: Final = re.compile(r"(?:^|\s)(\w{2,})$")
_READ: Final = f"SELECT {', '.join(f"websearch_to_tsquery('{each}', %s)::text" for each in LANGUAGES)}"
_AMONG: Final = """
    SELECT ticket_id FROM (SELECT ticket_id, search FROM tickets_words WHERE ticket_id = ANY(%(pks)s) OFFSET 0) words
    WHERE search @@ %(asked)s::tsquery"""  # OFFSET 0 keeps the planner from using the index
_INDEX: Final = "SELECT ticket_id FROM tickets_words WHERE search @@ %(asked)s::tsquery LIMIT %(most)s"


def parse_number(text: str) -> int:
    """Return the ticket number in a text like `#1203` or `1203`; 0 where it is none."""
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else 0


def build_tsquery(text: str) -> str:
    """Return a tsquery for the words in both languages; the last one also matches as the beginning of a word. "" for no words."""
    last = _LAST.search(text)
    if last is None or '"' in text:
        return _join_with_or(_parse_words(text))
    begins = f"{quote_lexeme(last[1].lower())}:*"
    *stemmed, _simple = _parse_words(text)  # the prefix match covers the simple dictionary
    before = _join_with_or(_parse_words(text[: last.start()].strip()))
    return _join_with_or([*stemmed, f"({before}) & {begins}" if before else begins])


def search_page(rows: QuerySet[Ticket], text: str, order: KeysetOrder, after: str, size: int) -> tuple[list[Ticket], str]:
    """Return one page of the tickets that match the text, and the token of the next page, "" after the last."""
    if (asked_for := parse_number(text)) and (itself := rows.filter(pk=resolve_merged(asked_for)).first()):
        return [itself], ""
    asked = build_tsquery(text)
    if not asked:
        return [], ""
    hits, goes_on = _scan_newest(rows, asked, order, after, size, [FIRST])
    if goes_on and len(hits) <= size:
        few = _list_few_ids(asked) if len(hits) < MANY else None
        if few is not None:
            found = list(order.filter_after(rows.filter(pk__in=few), after)[: size + 1])
            return found[:size], order.make_token(found[size - 1]) if len(found) > size else ""
        more, goes_on = _scan_newest(rows, asked, order, goes_on, size - len(hits), [STEP] * STEPS)
        hits += more
    shown = list(rows.filter(pk__in=[hit.pk for hit in hits[:size]]).order_by(*order.columns))
    return shown, order.make_token(hits[size - 1]) if len(hits) > size else goes_on


def _scan_newest(
    rows: QuerySet[Ticket], asked: str, order: KeysetOrder, after: str, size: int, steps: list[int]
) -> tuple[list[Ticket], str]:
    """Return the hits among the next tickets, until there are more than a page, and the token to continue from, "" at the end."""
    light, hits = rows.select_related(None).only(*(column.removeprefix("-") for column in order.columns)), list[Ticket]()
    for step in steps:
        looked = list(order.filter_after(light, after)[:step])
        found = _fetch_ids(_AMONG, pks=[row.pk for row in looked], asked=asked)
        hits += [row for row in looked if row.pk in found]
        if len(looked) < step:
            return hits, ""
        after = order.make_token(looked[-1])
        if len(hits) > size:
            break
    return hits, after


def _list_few_ids(asked: str) -> set[int] | None:
    """Return the ids of all hits by the index; None when there are FEW or more."""
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
    """Return a query that matches what any of these matches, without duplicates."""
    return " | ".join(f"({each})" for each in dict.fromkeys(queries) if each)
