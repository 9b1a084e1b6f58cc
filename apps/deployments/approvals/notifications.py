"""Mails to people about approvals: to whoever asked, when it is refused; to everybody who may approve, when somebody went on alone."""

from collections.abc import Iterable

from django.conf import settings
from django.urls import reverse

from apps.accounts.models import User
from apps.deployments.approvals.eligibility import approvers_but
from apps.deployments.models import HeldBack, Hold
from apps.mail.services import write


def tell_of_refusal(held: HeldBack, *, title: str) -> None:
    """Everybody who asked, but whoever refused it. title: what it was, as the history calls it."""
    who = held.decided_by.name if held.decided_by else ""
    people = [person for person in held.askers.filter(is_active=True) if person != held.decided_by]
    _tell(people, "approval_refused", held, url=_page_of(held), who=who, why=held.reason, what=title)


def tell_of_approval_alone(held: HeldBack) -> None:
    """Everybody else who may approve."""
    who = held.decided_by.name if held.decided_by else ""
    _tell(approvers_but(held.decided_by), "approved_alone", held, url=_page_of(held), who=who, why=held.reason)


def tell_of_hold_alone(hold: Hold) -> None:
    """Everybody else who may approve: somebody went back to an older revision without a second person."""
    url = f"{settings.PORTAL_URL}{reverse('deployments:revision', args=[hold.revision_id])}"
    facts = {"who": hold.by.name if hold.by else "", "why": hold.why, "revision": str(hold.revision), "group": str(hold.group)}
    _tell(approvers_but(hold.by), "rollback_alone", hold, url=url, **facts)


def _page_of(held: HeldBack) -> str:
    return f"{settings.PORTAL_URL}{reverse('deployments:held', args=[held.pk])}"


def _tell(people: Iterable[User], template: str, about: HeldBack | Hold, **facts: str) -> None:
    for person in people:
        if person.email:
            key = f"{template} {about._meta.model_name} {about.pk} to {person.pk}"
            write(to=person.email, language=person.speaks, template=template, context=facts, about=about, key=key, urgent=True)
