"""Writes of incidents: open, change, tell, and keep what was learned."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.validity import check_not_too_far_ahead, check_not_too_long_ago
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.mail.models import Message
from apps.mail.services import discard_waiting_mails
from apps.members.models import Site
from apps.network.models import Gateway
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.network_services import NetworkService
from apps.status.subscriptions.services import NOTICE

Stage = IncidentUpdate.Stage
STAGES: Final = {
    Incident.Kind.FAULT: (Stage.LOOKING, Stage.FOUND, Stage.WATCHING, Stage.OVER),
    Incident.Kind.MAINTENANCE: (Stage.PLANNED, Stage.UNDER_WAY, Stage.OVER, Stage.CALLED_OFF),
}
ENDING: Final = (Stage.OVER, Stage.CALLED_OFF)
LONGEST_TEXT: Final = 5_000
LONGEST_REPORT: Final = 50_000
FARTHEST: Final = timedelta(days=366)
MAIL_TASK: Final = "workers.mail_status_updates"
log = structlog.get_logger()


@dataclass(frozen=True)
class IncidentFacts:
    """What people say of an incident. sites: no houses mean all."""

    kind: str
    services: Sequence[str]
    began: datetime
    title_en: str = ""
    title_de: str = ""
    impact: str = "degraded"
    sites: Sequence[Site] = field(default=())
    gateways: Sequence[Gateway] = field(default=())
    planned_end: datetime | None = None
    public: bool = True
    attach_tickets: bool = False


@dataclass(frozen=True)
class UpdateFacts:
    """What is told of an incident. next_update: when more is promised, None for no promise."""

    stage: str
    text_en: str = ""
    text_de: str = ""
    public: bool = True
    notify: bool = True
    next_update: datetime | None = None


def open_incident(*, facts: IncidentFacts, first: UpdateFacts, by: User) -> Incident:
    """Open an incident with its first update. Raises Problem."""
    columns = _build_columns(facts)
    with transaction.atomic():
        made = Incident.objects.create(**columns, opened_by=by)
        made.sites.set(facts.sites)
        made.gateways.set(facts.gateways)
        _add_update(made, first, by)
    log.info("incident opened", incident=made.pk, kind=made.kind, by=by.username)
    return made


def change_incident(*, incident: Incident, version: int, facts: IncidentFacts, by: User) -> Incident:
    """Change what is known of an incident; its kind stays. Nobody gets a mail, and mails about one that is no longer public are stopped.

    Raises Problem, and Conflict if `version` is not current.
    """
    if facts.kind != incident.kind:
        raise Problem(_("A fault does not become planned work. Open another incident."), "kind")
    columns = _build_columns(facts)
    if incident.ended and not incident.is_called_off and facts.began > incident.ended:
        raise Problem(_("It was over before that."), "began")
    with transaction.atomic():
        if not Incident.objects.filter(pk=incident.pk, version=version).update(version=F("version") + 1, **columns):
            raise Conflict(_("This was changed since you read it. Read it again, then decide."))
        changed = Incident.objects.get(pk=incident.pk)
        changed.sites.set(facts.sites)
        changed.gateways.set(facts.gateways)
        if not changed.public:
            _stop_mails(changed, by)
    log.info("incident changed", incident=incident.pk, by=by.username)
    return changed


def post_update(*, incident: Incident, facts: UpdateFacts, by: User) -> IncidentUpdate:
    """Tell something new. The stages OVER and CALLED_OFF end the incident; an earlier stage opens it again. Raises Problem."""
    with transaction.atomic():
        current = Incident.objects.select_for_update(of=("self",)).get(pk=incident.pk)
        made = _add_update(current, facts, by)
    log.info("incident updated", incident=incident.pk, stage=made.stage, by=by.username)
    return made


def save_report(*, incident: Incident, version: int, text: str, by: User) -> None:
    """Keep what was learned from it. Raises Problem if it is too long, and Conflict if `version` is not current."""
    kept = text.replace("\0", "").strip()
    if len(kept) > LONGEST_REPORT:
        raise Problem(_("Write at most %(most)d characters.") % {"most": LONGEST_REPORT}, "report")
    if not Incident.objects.filter(pk=incident.pk, version=version).update(version=F("version") + 1, report=kept):
        raise Conflict(_("This was changed since you read it. Read it again, then decide."))
    log.info("report of an incident saved", incident=incident.pk, by=by.username)


def _stop_mails(incident: Incident, by: User) -> None:
    """Write no more mails about this incident, and discard those that wait. Waits for a worker that is writing some, at most."""
    incident.updates.filter(mailed=None).update(notify=False)
    written = Message.objects.filter(about_type=incident._meta.label_lower, about_id=incident.pk, notice=NOTICE)
    discard_waiting_mails(mails=written, reason="the incident is for staff alone", by=by)


def _add_update(incident: Incident, facts: UpdateFacts, by: User) -> IncidentUpdate:
    now = timezone.now()
    texts = _check_update(incident, facts, now)
    public = facts.public and incident.public
    made = IncidentUpdate.objects.create(
        incident=incident, by=by, stage=facts.stage, public=public, notify=facts.notify and public, at=now, **texts
    )
    ended = (incident.ended or now) if facts.stage in ENDING else None
    promised = None if ended else facts.next_update
    if (ended, promised) != (incident.ended, incident.next_update):
        Incident.objects.filter(pk=incident.pk).update(version=F("version") + 1, ended=ended, next_update=promised)
    if made.notify:
        enqueue_task(MAIL_TASK)
    return made


def _check_update(incident: Incident, facts: UpdateFacts, now: datetime) -> dict[str, str]:
    """Return the texts. Raises Problem."""
    if facts.stage not in STAGES[Incident.Kind(incident.kind)]:
        raise Problem(_("Choose a stage from the list."), "stage")
    if facts.stage == Stage.CALLED_OFF and incident.began <= now:
        raise Problem(_("It has begun already, so it cannot be called off. Choose “over”."), "stage")
    if facts.stage in (Stage.OVER, Stage.UNDER_WAY) and incident.began > now:
        raise Problem(_("It has not begun yet. Call it off, or change when it begins."), "stage")
    check_not_too_far_ahead(facts.next_update, "next_update")
    if facts.next_update and facts.next_update <= now:
        raise Problem(_("Promise a time that is still to come."), "next_update")
    texts = {name: getattr(facts, name).replace("\0", "").strip() for name in ("text_en", "text_de")}
    if not any(texts.values()):
        raise Problem(_("Say in one sentence what is known. Members read it."), "text_en")
    for name, text in texts.items():
        if len(text) > LONGEST_TEXT:
            raise Problem(_("Write at most %(most)d characters.") % {"most": LONGEST_TEXT}, name)
    return texts


def _build_columns(facts: IncidentFacts) -> dict[str, Any]:
    """Return the columns of a row. Raises Problem."""
    titles = {name: " ".join(getattr(facts, name).replace("\0", "").split()) for name in ("title_en", "title_de")}
    if not any(titles.values()):
        raise Problem(_("Enter a title in one of the languages, such as “Slow in houses A to F”."), "title_en")
    services = [each for each in NetworkService.values if each in facts.services]
    if not services:
        raise Problem(_("Choose what is affected."), "services")
    return {
        **titles, "services": services, **_check_times(facts),
        "kind": facts.kind, "impact": facts.impact, "public": facts.public, "attach_tickets": facts.attach_tickets,
    }  # fmt: skip


def _check_times(facts: IncidentFacts) -> dict[str, datetime | None]:
    now = timezone.now()
    check_not_too_long_ago(facts.began, "began")
    if facts.kind == Incident.Kind.FAULT:
        if facts.began > now:
            raise Problem(_("A fault has begun already. For work that is to come, choose planned work."), "began")
        if facts.planned_end:
            raise Problem(_("Only planned work has a planned end. Promise an update instead."), "planned_end")
        return {"began": facts.began, "planned_end": None}
    if facts.planned_end is None:
        raise Problem(_("Planned work needs a planned end."), "planned_end")
    if facts.planned_end <= facts.began:
        raise Problem(_("The planned end must be after the beginning."), "planned_end")
    if facts.planned_end > now + FARTHEST:
        raise Problem(_("Choose a time within a year."), "planned_end")
    return {"began": facts.began, "planned_end": facts.planned_end}
