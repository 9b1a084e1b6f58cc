"""Mails to people about approvals: to whoever asked, when it is refused; to everybody who may approve, when somebody went on alone."""

from collections.abc import Iterable

from django.conf import settings
from django.urls import reverse

from apps.accounts.models import User
from apps.deployments.approvals.eligibility import list_other_approvers
from apps.deployments.models import HeldBack, Hold
from apps.mail.services import write_mail


def notify_of_refusal(held: HeldBack, *, title: str) -> None:
    """Everybody who asked, but whoever refused it. title: what it was, as the history calls it."""
    who = held.decided_by.name if held.decided_by else ""
    people = [person for person in held.askers.filter(is_active=True) if person != held.decided_by]
    _write_mails(people, "approval_refused", held, url=_build_page_url(held), who=who, why=held.reason, what=title)


def notify_of_lone_approval(held: HeldBack) -> None:
    """Everybody else who may approve."""
    who = held.decided_by.name if held.decided_by else ""
    _write_mails(list_other_approvers(held.decided_by), "approved_alone", held, url=_build_page_url(held), who=who, why=held.reason)


def notify_of_lone_hold(hold: Hold) -> None:
    """Everybody else who may approve: somebody went back to an older revision without a second person."""
    url = f"{settings.PORTAL_URL}{reverse('deployments:revision', args=[hold.revision_id])}"
    facts = {"who": hold.by.name if hold.by else "", "why": hold.why, "revision": str(hold.revision), "group": str(hold.group)}
    _write_mails(list_other_approvers(hold.by), "rollback_alone", hold, url=url, **facts)


def _build_page_url(held: HeldBack) -> str:
    return f"{settings.PORTAL_URL}{reverse('deployments:held', args=[held.pk])}"


def _write_mails(people: Iterable[User], template: str, about: HeldBack | Hold, **facts: str) -> None:
    for person in people:
        if person.email:
            key = f"{template} {about._meta.model_name} {about.pk} to {person.pk}"
            write_mail(to=person.email, language=person.speaks, template=template, context=facts, about=about, key=key, urgent=True)
