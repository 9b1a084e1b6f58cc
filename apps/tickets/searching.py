"""Full text search in tickets: subjects and everything that was written, German and English, and the beginning of the last word.

What people type is read by websearch_to_tsquery, which takes anything (PostgreSQL manual, 12.3.2): words, "phrases", or, -without.
"""

import re
from typing import Any, Final

from django.contrib.postgres.search import CombinedSearchQuery, Lexeme, SearchQuery
from django.db.models import Q, QuerySet

from apps.tickets.keyset import Order
from apps.tickets.models import LANGUAGES, Message, Ticket

FEW: Final = 3000  # hits that are sorted; of more, the newest tickets are looked through one after the other
STEP: Final = 1500  # tickets that are looked through at once
STEPS: Final = 12
_NUMBER: Final = re.compile(r"#?([1-9][0-9]{0,8})")
_LAST: Final = re.compile(r"(?:^|\s)(\w{2,})$")

type Query = SearchQuery | CombinedSearchQuery


def query(text: str) -> Query:
    """What the words mean in either language; the last may go on."""
    asked = _in_all(text)
    last = _LAST.search(text)
    if last is None or '"' in text:
        return asked
    begins = SearchQuery(Lexeme(last[1].lower(), prefix=True), config="simple")
    before = text[: last.start()].strip()
    return asked | (_in_all(before) & begins if before else begins)


def _in_all(text: str) -> Query:
    german, english, simple = (SearchQuery(text, config=each, search_type="websearch") for each in LANGUAGES)
    return german | english | simple


def page(rows: QuerySet[Ticket], text: str, order: Order, after: str, size: int) -> tuple[list[Ticket], str]:
    """The tickets of one page that the text finds, and where the next page begins, "" after the last."""
    number = _NUMBER.fullmatch(text)
    numbered = Q(pk=int(number[1])) if number else Q()
    asked = query(text)
    few = _few(asked)
    if few is None:
        return _walk(rows, asked, order, after, size)
    found = list(order.after(rows.filter(Q(pk__in=few) | numbered if number else Q(pk__in=few)), after)[: size + 1])
    return found[:size], order.token(found[size - 1]) if len(found) > size else ""


def _few(asked: Query) -> set[int] | None:
    """The ids of all tickets that it finds; None when they are many."""
    tickets: list[Any] = list(Ticket.objects.order_by().filter(search=asked).values_list("pk", flat=True)[: FEW + 1])
    if len(tickets) > FEW:
        return None
    messages = list(Message.objects.order_by().filter(search=asked).values_list("ticket_id", flat=True)[: FEW + 1])
    return None if len(messages) > FEW else {*tickets, *messages}


def _walk(rows: QuerySet[Ticket], asked: Query, order: Order, after: str, size: int) -> tuple[list[Ticket], str]:
    """What many tickets have is soon found among those that come first; after STEPS the next page goes on looking."""
    found: list[Ticket] = []
    for _step in range(STEPS):
        step = list(order.after(rows, after)[:STEP])
        hits = _among([row.pk for row in step], asked)
        found += [row for row in step if row.pk in hits]
        if len(found) > size:
            return found[:size], order.token(found[size - 1])
        if len(step) < STEP:
            return found, ""
        after = order.token(step[-1])
    return found, after


def _among(pks: list[int], asked: Query) -> set[int]:
    tickets = Ticket.objects.order_by().filter(pk__in=pks, search=asked).values_list("pk", flat=True)
    return {*tickets, *Message.objects.order_by().filter(ticket__in=pks, search=asked).values_list("ticket_id", flat=True)}
