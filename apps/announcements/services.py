"""Services that write, publish and withdraw announcements. Only drafts are changed or removed: what members have read stays as it was."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.announcements.audience import list_reached_members
from apps.announcements.models import AUDIENCE_KINDS, LANGUAGES, Announcement, AnnouncementRecipient
from apps.lib.database.validity import check_not_too_far_ahead, check_not_too_long_ago
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.mail.models import Message
from apps.mail.services import discard_waiting_mails
from apps.members.models import Site, Tariff
from apps.network.models import GatewayGroup, Pool

LONGEST_TITLE: Final = 200  # characters
LONGEST: Final = 10_000  # characters of a text
TASK: Final = "workers.send_announcements"
BATCH: Final = 2_000  # rows of one INSERT
Delivery = AnnouncementRecipient.Delivery
log = structlog.get_logger()


@dataclass(frozen=True)
class AnnouncementFacts:
    """An announcement as forms and scripts give it. At least one language has title and text. shown_from: None for at once.

    dropped: kinds by which a draft shall not be narrowed any more though all that was chosen of them was removed.
    """

    shown_until: datetime
    title_en: str = ""
    text_en: str = ""
    title_de: str = ""
    text_de: str = ""
    sites: Sequence[Site] = ()
    pools: Sequence[Pool] = ()
    groups: Sequence[GatewayGroup] = ()
    tariffs: Sequence[Tariff] = ()
    shown_from: datetime | None = None
    by_mail: bool = True
    dropped: Sequence[str] = ()


def draft_announcement(*, facts: AnnouncementFacts, by: User) -> Announcement:
    """Save a draft. Raises Problem for texts that are missing or too long, and for times in the wrong order."""
    columns = _build_columns(facts)
    with transaction.atomic():
        made = Announcement.objects.create(author=by, **columns, **_build_audience_columns(None, facts))
        _set_audience(made, facts)
    log.info("announcement drafted", announcement=made.pk, by=by.username)
    return made


def change_draft(*, announcement: Announcement, version: int, facts: AnnouncementFacts, by: User) -> Announcement:
    """Change a draft. Raises Problem as `draft_announcement` does, and Conflict if `version` is not current or it is no draft any more.

    A draft of whose audience all of a kind was removed stays narrowed by it, until others of this kind are chosen or it is `dropped`.
    Raises Problem if another part of the audience is changed before.
    """
    columns = _build_columns(facts)
    with transaction.atomic():
        drafts = Announcement.objects.filter(pk=announcement.pk, version=version, state=Announcement.State.DRAFT)
        if not (draft := drafts.select_for_update(no_key=True).first()):
            raise _explain_change()
        drafts.update(version=F("version") + 1, **columns, **_build_audience_columns(draft, facts))
        changed = Announcement.objects.get(pk=announcement.pk)
        _set_audience(changed, facts)
    log.info("announcement changed", announcement=announcement.pk, by=by.username)
    return changed


def remove_draft(*, announcement: Announcement, by: User) -> None:
    """Remove a draft. Raises Conflict if it was published."""
    if not Announcement.objects.filter(pk=announcement.pk, state=Announcement.State.DRAFT).delete()[0]:
        raise Conflict(_("It was published meanwhile. Withdraw it instead."))
    log.info("announcement removed", announcement=announcement.pk, by=by.username)


@transaction.atomic
def publish_announcement(*, announcement: Announcement, version: int, members: int, by: User) -> Announcement:
    """Publish a draft to the members whom it reaches now, and let a worker write the mails.

    version, members: of the preview that was confirmed; Conflict if either has changed. Raises Problem if it reaches nobody, or its time
    is over.
    """
    row = _lock(announcement)
    now = timezone.now()
    if row.state != Announcement.State.DRAFT or row.version != version:
        raise _explain_change()
    if row.shown_until <= now:
        raise Problem(_("Its end is past. Change “shown until” first."), "shown_until")
    reached = list(list_reached_members(row).order_by("name", "pk").values_list("pk", flat=True))
    _check_reach(len(reached), members)
    row.state, row.published, row.published_by, row.reached = Announcement.State.PUBLISHED, now, by, len(reached)
    row.shown_from, row.version = max(row.shown_from or now, now), row.version + 1
    row.save()
    delivery = Delivery.WAITING if row.by_mail else Delivery.PAGE
    AnnouncementRecipient.objects.bulk_create(
        [AnnouncementRecipient(announcement=row, member_id=pk, since=now, delivery=delivery) for pk in reached], batch_size=BATCH
    )
    enqueue_task(TASK)
    log.info("announcement published", announcement=row.pk, members=len(reached), mail=row.by_mail, by=by.username)
    return row


@transaction.atomic
def withdraw_announcement(*, announcement: Announcement, by: User) -> int:
    """Take an announcement from the members' pages, and stop the mails that were not sent yet. Return how many.

    Raises Conflict if it is a draft, or was withdrawn. Waits for a worker's batch, at most.
    """
    row = _lock(announcement)
    if row.state != Announcement.State.PUBLISHED:
        raise Conflict(_("It is a draft, or was withdrawn meanwhile."))
    row.state, row.withdrawn, row.withdrawn_by, row.version = Announcement.State.WITHDRAWN, timezone.now(), by, row.version + 1
    row.save()
    unwritten = row.recipients.filter(delivery=Delivery.WAITING).update(delivery=Delivery.STOPPED)
    written = Message.objects.filter(pk__in=row.recipients.filter(message__isnull=False).values("message"))
    unsent = discard_waiting_mails(mails=written, reason="the announcement was withdrawn", by=by)
    log.info("announcement withdrawn", announcement=row.pk, stopped=unwritten + unsent, by=by.username)
    return unwritten + unsent


def extend_audiences(part: int, pool: int) -> None:
    """Let announcements to the members of a pool reach those of its new part, too. Takes their ids."""
    for each in Announcement.objects.filter(pools=pool):
        each.pools.add(part)


def merge_audiences(part: int, pool: int) -> None:
    """Let announcements to the members of a part reach those of the pool that it returns to. Takes their ids."""
    for each in Announcement.objects.filter(pools=part):
        each.pools.add(pool)


def _lock(announcement: Announcement) -> Announcement:
    return Announcement.objects.select_for_update(no_key=True).get(pk=announcement.pk)


def _check_reach(found: int, confirmed: int) -> None:
    if not found:
        raise Problem(_("It reaches no active member. Change the audience first."))
    if found != confirmed:
        facts = {"now": formats.format_number(found), "before": formats.format_number(confirmed)}
        raise Conflict(_("It would reach %(now)s members now, not %(before)s. Look at the preview, then publish again.") % facts)


def _explain_change() -> Conflict:
    return Conflict(_("This was changed or published since you read it. Read it again, then decide."))


def _build_columns(facts: AnnouncementFacts) -> dict[str, Any]:
    """Return the columns of a row without those of its audience. Raises Problem."""
    names = [f"{part}_{language}" for language in LANGUAGES for part in ("title", "text")]
    words = {name: _tidy(getattr(facts, name)) for name in names}
    _check_words(words)
    for name in ("shown_from", "shown_until"):
        check_not_too_long_ago(getattr(facts, name), name)
        check_not_too_far_ahead(getattr(facts, name), name)
    if facts.shown_until <= (facts.shown_from or timezone.now()):
        raise Problem(_("Choose an end after the beginning, and still to come."), "shown_until")
    return {**words, "shown_from": facts.shown_from, "shown_until": facts.shown_until, "by_mail": facts.by_mail}


def _build_audience_columns(draft: Announcement | None, facts: AnnouncementFacts) -> dict[str, Any]:
    """Return the columns of the audience: as they are, while it is not decided what becomes of kinds of which all was removed."""
    emptied = draft.list_emptied_kinds() if draft else []
    undecided = [kind for kind in emptied if not getattr(facts, kind) and kind not in facts.dropped]
    if draft and undecided:
        if any(_is_changed(draft, kind, facts) for kind in AUDIENCE_KINDS):
            raise Problem(
                _("All that was chosen here was removed. Choose others before you change the rest of the audience."), undecided[0]
            )
        return {"narrowed_by": draft.narrowed_by, "audience": draft.audience}
    chosen = {kind: [each.name for each in getattr(facts, kind)] for kind in AUDIENCE_KINDS if getattr(facts, kind)}
    return {"narrowed_by": list(chosen), "audience": "; ".join(", ".join(names) for names in chosen.values())}


def _is_changed(draft: Announcement, kind: str, facts: AnnouncementFacts) -> bool:
    return kind in facts.dropped or {each.pk for each in getattr(draft, kind).all()} != {each.pk for each in getattr(facts, kind)}


def _check_words(words: dict[str, str]) -> None:
    for language in LANGUAGES:
        title, text = words[f"title_{language}"], words[f"text_{language}"]
        if bool(title) != bool(text):
            missing = "text" if title else "title"
            raise Problem(_("Write title and text, or neither in this language."), f"{missing}_{language}")
        for part, given, most in (("title", title, LONGEST_TITLE), ("text", text, LONGEST)):
            if len(given) > most:
                raise Problem(_("Write at most %(most)s characters.") % {"most": formats.format_number(most)}, f"{part}_{language}")
    if not any(words.values()):
        raise Problem(_("Write title and text in at least one language."), "title_en")


def _tidy(text: str) -> str:
    """Return the text without NUL, with LF as line end, and without surrounding white space."""
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip()


def _set_audience(row: Announcement, facts: AnnouncementFacts) -> None:
    for kind in AUDIENCE_KINDS:
        getattr(row, kind).set(getattr(facts, kind))
