"""Django e-mail backend that puts mail of other packages (signing in, invitations) into the outbox; a worker sends it at once.

Such mail is always urgent and confidential: it contains links and codes that open accounts.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.utils.translation import get_language

from apps.mail.mail_templates import collapse_lines
from apps.mail.models import Message
from apps.mail.services import put_in_outbox
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting


class Outbox(BaseEmailBackend):
    """Writes one outbox row per recipient. Raises ValueError for copies and attachments, which a row cannot hold."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        return sum(self._put(message) for message in email_messages)

    def _put(self, message: EmailMessage) -> bool:
        if message.cc or message.bcc or message.attachments:
            raise ValueError("The outbox accepts neither copies nor attachments: send one mail with a text to each address.")
        for to in message.to:
            put_in_outbox(_build_row(message, to))
        return bool(message.to)


def _build_row(message: EmailMessage, to: str) -> Message:
    alternatives: Sequence[Any] = getattr(message, "alternatives", ())
    html = next((str(each[0]) for each in alternatives if each[1] == "text/html"), "")
    return Message(
        to=to, language=(get_language() or read_setting(DEFAULT_LANGUAGE))[:2], urgent=True, confidential=True,
        subject=collapse_lines(str(message.subject))[:250], text=str(message.body), html=html,
        sender=message.from_email or settings.DEFAULT_FROM_EMAIL, reply_to=", ".join(message.reply_to),
    )  # fmt: skip
