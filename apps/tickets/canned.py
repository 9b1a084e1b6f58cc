"""Canned answers: texts with placeholders from a fixed table, which are filled in as text. Nothing in them is executed.

An answer with an unknown placeholder is refused when it is saved.
"""

import re
from collections.abc import Callable
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.preferences.declarations import NETWORK_NAME
from apps.preferences.selectors import read_setting
from apps.tickets.models import Canned, Ticket
from apps.tickets.notifications import get_asker_contact
from apps.tickets.thread import tidy_text

log = structlog.get_logger()
_PLACE: Final = re.compile(r"\{([^{}\n]{0,40})\}")
LONGEST: Final = 10_000  # characters
type Fill = Callable[[Ticket, User], str]

PLACES: Final[dict[str, tuple[str | Promise, Fill]]] = {
    "name": (
        gettext_lazy("the member’s name, or else the e-mail address"),
        lambda ticket, _by: str(ticket.member) if ticket.member else ticket.address,
    ),
    "ticket": (gettext_lazy("the ticket’s number"), lambda ticket, _by: f"#{ticket.pk}"),
    "subject": (gettext_lazy("its subject"), lambda ticket, _by: ticket.subject),
    "me": (gettext_lazy("your name"), lambda _ticket, by: by.name),
    "network": (gettext_lazy("the network’s name"), lambda _ticket, _by: read_setting(NETWORK_NAME)),
    "portal": (gettext_lazy("the portal’s address"), lambda _ticket, _by: settings.PORTAL_URL),
}


def fill_canned_answer(canned: Canned, ticket: Ticket, by: User) -> str:
    """Return the answer in the asker's language, as text for the form. Placeholders in filled-in values are not filled in again."""
    return fill_placeholders(canned.text_de if get_asker_contact(ticket)[1] == "de" else canned.text_en, ticket, by)


def fill_placeholders(text: str, ticket: Ticket, by: User) -> str:
    """Return the text with its placeholders filled in for this ticket; unknown ones stay as they are."""
    return _PLACE.sub(lambda found: PLACES[found[1]][1](ticket, by) if found[1] in PLACES else found[0], text)


def list_unknown_placeholders(text: str) -> list[str]:
    """Return the unknown placeholders in the text, as they were written."""
    return [found[0] for found in _PLACE.finditer(text) if found[1] not in PLACES]


def add_canned_answer(*, name: str, text_de: str, text_en: str, by: User) -> Canned:
    """Add a canned answer. Raise Problem when the name is taken, the name or a text is missing, a text is too long, or a placeholder is
    unknown.
    """
    given = _validate_answer(name, text_de, text_en)
    try:
        with transaction.atomic():
            made = Canned.objects.create(**given)
    except IntegrityError as error:
        raise _explain_integrity_error(error, name) from error
    log.info("canned answer added", answer=made.pk, by=by.username)
    return made


def change_canned_answer(*, canned: Canned, version: int, name: str, text_de: str, text_en: str, by: User) -> None:
    """Change a canned answer. Raise Problem as `add_canned_answer` does, Conflict when it changed since `version`."""
    given = _validate_answer(name, text_de, text_en)
    try:
        with transaction.atomic():
            changed = Canned.objects.filter(pk=canned.pk, version=version).update(version=F("version") + 1, **given)
    except IntegrityError as error:
        raise _explain_integrity_error(error, name) from error
    if not changed:
        raise Conflict(
            _("This canned answer was changed by someone else while you were editing. Look at it as it is now, then save again.")
        )
    log.info("canned answer changed", answer=canned.pk, by=by.username)


def remove_canned_answer(*, canned: Canned, by: User) -> None:
    """Remove a canned answer. Idempotent."""
    Canned.objects.filter(pk=canned.pk).delete()
    log.info("canned answer removed", answer=canned.pk, by=by.username)


def _validate_answer(name: str, text_de: str, text_en: str) -> dict[str, str]:
    given = {"name": " ".join(tidy_text(name).split()), "text_de": tidy_text(text_de), "text_en": tidy_text(text_en)}
    for field, text in given.items():
        if not text:
            raise Problem(_("A canned answer needs a name and both texts."), field)
    for field in ("text_de", "text_en"):
        check_text(given[field], field)
    return given


def check_text(text: str, field: str) -> None:
    """Raise Problem when the text is too long or has an unknown placeholder."""
    if len(text) > LONGEST:
        raise Problem(
            _("%(length)d characters are too many; at most %(limit)d are allowed.") % {"length": len(text), "limit": LONGEST}, field
        )
    if unknown := list_unknown_placeholders(text):
        facts = {"unknown": ", ".join(unknown), "known": ", ".join(f"{{{each}}}" for each in PLACES)}
        raise Problem(_("Unknown placeholders: %(unknown)s. Known are %(known)s.") % facts, field)


def _explain_integrity_error(error: IntegrityError, name: str) -> Problem:
    if "name" not in str(error):
        raise error
    return Problem(_("A canned answer named “%(name)s” exists already.") % {"name": name}, "name")
