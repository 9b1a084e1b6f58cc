"""Bulk services: one answer to many tickets, and changes of many tickets at once.

An answer is saved first, with its tickets; a worker then answers one ticket after the other, each in its own transaction. A form that
is sent twice counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import override

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Right
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.tickets import canned, services
from apps.tickets.models import Bulk, BulkItem, Ticket
from apps.tickets.notifications import get_asker_contact, list_answer_recipients
from apps.tickets.thread import tidy_text

MAX_TICKETS: Final = 500  # tickets at once
AT_ONCE: Final = 50  # answers of one task
TASK: Final = "workers.answer_tickets"
log = structlog.get_logger()


@dataclass(frozen=True)
class AnswerReach:
    """Number of readers of an answer to many tickets: by mail, on their page only, and by language."""

    tickets: int
    by_mail: int
    languages: dict[str, int]

    @property
    def on_page(self) -> int:
        return self.tickets - self.by_mail


def compute_answer_reach(tickets: Sequence[Ticket]) -> AnswerReach:
    """Return the reach of an answer to all of these tickets."""
    known = list_answer_recipients(tickets)
    counted = {code: sum(language == code for _to, language in known) for code in ("de", "en")}
    return AnswerReach(len(tickets), sum(bool(to) for to, _language in known), {code: number for code, number in counted.items() if number})


def render_answer(ticket: Ticket, texts: Mapping[str, str], by: User) -> str:
    """Return the answer to this ticket with its placeholders filled in, in the reader's language if there is a text in it."""
    text = texts.get(get_asker_contact(ticket)[1]) or next(each for each in texts.values() if each)
    return canned.fill_placeholders(text, ticket, by)


def validate_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the tidied texts by language. Raise Problem when all are empty, one is too long, or a placeholder is unknown."""
    kept = {language: tidy_text(text) for language, text in texts.items()}
    if not any(kept.values()):
        raise Problem(_("Write something first."), next(f"text_{language}" for language in kept))
    for language, text in kept.items():
        canned.check_text(text, f"text_{language}")
    return kept


def answer_tickets(*, key: UUID, tickets: Sequence[Ticket], text_de: str, text_en: str, solved: bool = False, by: User) -> Bulk:
    """Save an answer to these tickets and enqueue its sending. With a known key, return the known answer and send nothing again.

    Raise Problem for texts that `validate_texts` refuses, for no tickets and for too many.
    """
    texts = validate_texts({"de": text_de, "en": text_en})
    _check_number(tickets)
    state = Ticket.State.SOLVED if solved else Ticket.State.WAITING
    try:
        with transaction.atomic():
            made = Bulk.objects.create(key=key, text_de=texts["de"], text_en=texts["en"], state=state, by=by)
            BulkItem.objects.bulk_create([BulkItem(bulk=made, ticket=each) for each in tickets])
            enqueue_task(TASK)
    except IntegrityError:
        if known := Bulk.objects.filter(key=key).first():
            return known
        raise
    log.info("answer to tickets queued", bulk=made.pk, tickets=len(tickets), by=by.username)
    return made


def send_pending_answers(most: int = AT_ONCE) -> bool:
    """Answer the next tickets, at most `most`. Return True if more are left. Any number of workers may do so at once."""
    for _each in range(most):
        with transaction.atomic():
            rows = BulkItem.objects.select_for_update(of=("self",), skip_locked=True).filter(done_at=None).order_by("id")
            item = rows.select_related("bulk__by", "ticket__member").first()
            if item is None:
                return False
            _answer_item(item)
    return BulkItem.objects.filter(done_at=None).exists()


def _answer_item(item: BulkItem) -> None:
    with override(item.bulk.by.mail_language):
        why, message = _explain_omission(item), None
        if not why:
            try:
                with transaction.atomic():
                    message = _send_item(item)
            except Problem as problem:
                why = str(problem)
    BulkItem.objects.filter(pk=item.pk).update(done_at=Now(), message=message, why=why[:300])


def _send_item(item: BulkItem) -> Any:
    text = render_answer(item.ticket, {"de": item.bulk.text_de, "en": item.bulk.text_en}, item.bulk.by)
    return services.answer_ticket(ticket=item.ticket, text=text, solved=item.bulk.state == Ticket.State.SOLVED, by=item.bulk.by)


def _explain_omission(item: BulkItem) -> str:
    if item.ticket.merged_into_id:
        return _("It was merged into #%(target)d.") % {"target": item.ticket.merged_into_id}
    if not has_right(item.bulk.by, Right.ANSWER):
        return _("%(who)s may not answer tickets.") % {"who": item.bulk.by.name}
    return ""


@dataclass(frozen=True)
class TicketChanges:
    """Changes to many tickets; None: unchanged. assignee: `(user,)`, or `(None,)` for no assignee. add, drop: tags."""

    state: str | None = None
    priority: int | None = None
    assignee: tuple[User | None] | None = None
    add: Sequence[str] = field(default=())
    drop: Sequence[str] = field(default=())

    def find_differences(self, ticket: Ticket) -> dict[str, Any]:
        """Return the columns of this ticket that change, with their new values. Raise Problem for too many tags."""
        drop = set(services.validate_tags(self.drop))
        wanted: dict[str, Any] = {"tags": services.validate_tags([*(tag for tag in ticket.tags if tag not in drop), *self.add])}
        if self.state is not None:
            wanted["state"] = self.state
        if self.priority is not None:
            wanted["priority"] = self.priority
        if self.assignee is not None:
            wanted["assignee_id"] = self.assignee[0].pk if self.assignee[0] else None
        return {name: value for name, value in wanted.items() if getattr(ticket, name) != value}


def change_tickets(*, tickets: Sequence[Ticket], changes: TicketChanges, by: User) -> int:
    """Apply the changes to all of the tickets or to none. Return the number of tickets that changed. Raise Problem for values that are
    not allowed.
    """
    _check_number(tickets)
    services.check_facts(changes.state, changes.priority, changes.assignee[0] if changes.assignee else None)
    changed = 0
    with transaction.atomic():
        rows = Ticket.objects.select_for_update().filter(pk__in=[each.pk for each in tickets], merged_into=None)
        for row in rows.order_by("pk"):
            if different := changes.find_differences(row):
                Ticket.objects.filter(pk=row.pk).update(**different, version=F("version") + 1, touched_at=Now())
                changed += 1
    log.info("tickets changed", tickets=changed, by=by.username)
    return changed


def list_affected(tickets: Sequence[Ticket], changes: TicketChanges) -> list[Ticket]:
    """Return those of the tickets that the changes would change."""
    return [each for each in tickets if changes.find_differences(each)]


def _check_number(tickets: Sequence[Ticket]) -> None:
    if not tickets:
        raise Problem(_("Choose at least one ticket."), "tickets")
    if len(tickets) > MAX_TICKETS:
        raise Problem(
            _("%(number)d tickets are too many. Choose at most %(most)d.") % {"number": len(tickets), "most": MAX_TICKETS}, "tickets"
        )
