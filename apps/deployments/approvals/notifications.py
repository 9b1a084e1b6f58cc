"""Mails about approvals: to the askers about a refusal, and to all approvers when one person acted alone."""

from collections.abc import Iterable

from django.conf import settings
from django.urls import reverse

from apps.accounts.models import User
from apps.deployments.approvals.eligibility import list_other_approvers
from apps.deployments.models import HeldBack, Hold
from apps.mail.services import write_mail


def notify_of_refusal(held: HeldBack, *, title: str) -> None:
    """Notify all askers except the user who refused. title: of the held-back part, as the history shows it."""
    who = held.decided_by.name if held.decided_by else ""
    people = [person for person in held.askers.filter(is_active=True) if person != held.decided_by]
    _write_mails(people, "approval_refused", held, url=_build_page_url(held), who=who, why=held.reason, what=title)


def notify_of_lone_approval(held: HeldBack) -> None:
    """Notify all other approvers that a user approved their own change."""
    who = held.decided_by.name if held.decided_by else ""
    _write_mails(list_other_approvers(held.decided_by), "approved_alone", held, url=_build_page_url(held), who=who, why=held.reason)


def notify_of_lone_rollback(hold: Hold) -> None:
    """Notify all other approvers that a user rolled back without a second person."""
    url = f"{settings.PORTAL_URL}{reverse('deployments:revision', args=[hold.revision_id])}"
    facts = {"who": hold.by.name if hold.by else "", "why": hold.why, "revision": str(hold.revision), "group": str(hold.group)}
    _write_mails(list_other_approvers(hold.by), "rollback_alone", hold, url=url, **facts)


def _build_page_url(held: HeldBack) -> str:
    return f"{settings.PORTAL_URL}{reverse('deployments:held', args=[held.pk])}"


def _write_mails(people: Iterable[User], template: str, about: HeldBack | Hold, **facts: str) -> None:
    for person in people:
        if person.email:
            key = f"{template} {about._meta.model_name} {about.pk} to {person.pk}"
            write_mail(to=person.email, language=person.mail_language, template=template, context=facts, about=about, key=key, urgent=True)
