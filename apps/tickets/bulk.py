"""Many tickets at once: one answer to all of them, and what is set of all of them.

An answer is written down first, with the tickets it is for; a worker then answers one after the other, each in a transaction of its own.
Whoever sends the same form twice has sent it once.
"""

from collections.abc import Callable, Mapping, Sequence
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
from apps.tickets.notifications import get_asker, list_readers
from apps.tickets.thread import tidy

MOST: Final = 500  # tickets at once
AT_ONCE: Final = 50  # answers of one task
TASK: Final = "workers.answer_tickets"
log = structlog.get_logger()


@dataclass(frozen=True)
class AnswerReach:
    """Who gets an answer to these tickets: how many by mail, how many on their page alone; how many in each language."""

    tickets: int
    by_mail: int
    languages: dict[str, int]

    @property
    def on_page(self) -> int:
        return self.tickets - self.by_mail


def compute_reach(tickets: Sequence[Ticket]) -> AnswerReach:
    """What an answer to them all reaches."""
    known = list_readers(tickets)
    counted = {code: sum(language == code for _to, language in known) for code in ("de", "en")}
    return AnswerReach(len(tickets), sum(bool(to) for to, _language in known), {code: number for code, number in counted.items() if number})


def render_answer(ticket: Ticket, texts: Mapping[str, str], by: User) -> str:
    """The answer to this one: in its reader's language where it was written in that, with its placeholders filled in."""
    text = texts.get(get_asker(ticket)[1]) or next(each for each in texts.values() if each)
    return canned.fill_placeholders(text, ticket, by)


def validate_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """As they are kept. Raises Problem when there is none, one is too long, or a placeholder is unknown."""
    kept = {language: tidy(text) for language, text in texts.items()}
    if not any(kept.values()):
        raise Problem(_("Write something first."), next(f"text_{language}" for language in kept))
    for language, text in kept.items():
        canned.check_text(text, f"text_{language}")
    return kept


def answer_many(*, key: UUID, tickets: Sequence[Ticket], text_de: str, text_en: str, solved: bool = False, by: User) -> Bulk:
    """Have all of them answered. With a key that was used before it is that one, and nothing is sent again. Raises Problem for a text that
    cannot be sent, for no ticket and for too many."""
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
    log.info("tickets are answered", bulk=made.pk, tickets=len(tickets), by=by.username)
    return made


def answer_pending(most: int = AT_ONCE) -> bool:
    """Answer the next ones; whether more are left. Any number of workers may do so at once."""
    for _each in range(most):
        with transaction.atomic():
            rows = BulkItem.objects.select_for_update(of=("self",), skip_locked=True).filter(done_at=None).order_by("id")
            item = rows.select_related("bulk__by", "ticket__member").first()
            if item is None:
                return False
            _answer_item(item)
    return BulkItem.objects.filter(done_at=None).exists()


def _answer_item(item: BulkItem) -> None:
    with override(item.bulk.by.speaks):
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
    """What is set of all of them; None: that stays. assignee: (nobody,) is `(None,)`. add, drop: tags."""

    state: str | None = None
    priority: int | None = None
    assignee: tuple[User | None] | None = None
    add: Sequence[str] = field(default=())
    drop: Sequence[str] = field(default=())

    def of(self, ticket: Ticket) -> dict[str, Any]:
        """The columns of this ticket that become others. Raises Problem for too many tags."""
        drop = set(services.validate_tags(self.drop))
        wanted: dict[str, Any] = {"tags": services.validate_tags([*(tag for tag in ticket.tags if tag not in drop), *self.add])}
        if self.state is not None:
            wanted["state"] = self.state
        if self.priority is not None:
            wanted["priority"] = self.priority
        if self.assignee is not None:
            wanted["assignee_id"] = self.assignee[0].pk if self.assignee[0] else None
        return {name: value for name, value in wanted.items() if getattr(ticket, name) != value}


def change_many(*, tickets: Sequence[Ticket], changes: TicketChanges, by: User) -> int:
    """Set it of all of them, all or none; how many became others. Raises Problem for what cannot be set."""
    _check_number(tickets)
    services.check_facts(changes.state, changes.priority, changes.assignee[0] if changes.assignee else None)
    changed = 0
    with transaction.atomic():
        rows = Ticket.objects.select_for_update().filter(pk__in=[each.pk for each in tickets], merged_into=None)
        for row in rows.order_by("pk"):
            if different := changes.of(row):
                Ticket.objects.filter(pk=row.pk).update(**different, version=F("version") + 1, touched_at=Now())
                changed += 1
    log.info("tickets changed", tickets=changed, by=by.username)
    return changed


def count_affected(tickets: Sequence[Ticket], changes: TicketChanges) -> int:
    """How many would become others."""
    of: Callable[[Ticket], dict[str, Any]] = changes.of
    return sum(bool(of(each)) for each in tickets)


def _check_number(tickets: Sequence[Ticket]) -> None:
    if not tickets:
        raise Problem(_("Choose at least one ticket."), "tickets")
    if len(tickets) > MOST:
        raise Problem(_("%(number)d tickets; %(most)d is the most.") % {"number": len(tickets), "most": MOST}, "tickets")
