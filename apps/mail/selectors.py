"""Read queries of the outbox."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import BigIntegerField, Count, Exists, Min, Q, QuerySet, Sum
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import pgettext

from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.navigation import NavigationCount as NavigationCount
from apps.lib.web.request_cache import cache_per_request
from apps.mail import circuit_breaker
from apps.mail.models import Message, MessageCount, ServerAway

LATE: Final = timedelta(minutes=10)
LATE_IF_AWAY: Final = timedelta(seconds=20)
"""The same while the mail server accepts nothing: a mail that waits then does not wait for its turn."""
STATES: Final = ("waiting", "sent", "failed", "discarded", "all")


@dataclass(frozen=True)
class LateMailSummary:
    """Mail that has waited too long: how many, since when, and the outage if the server is the reason."""

    number: int
    since: datetime
    server: ServerAway | None


def list_mails(state: str = "waiting", search: str = "", notice: str = "") -> QuerySet[Message]:
    """Return mails in the state, newest first, without their content. search: a part of the address or of the subject."""
    found = Message.objects.select_related("ended_by").defer("text", "html", "references").order_by("-id")
    found = found if state == "all" else found.filter(state=state)
    found = found.filter(notice=notice) if notice else found
    text = search.replace("\0", "").strip()
    return found.filter(to__icontains=text) | found.filter(subject__icontains=text) if text else found


@cache_per_request
def count_by_state() -> dict[str, int]:
    """Return the number of mails in each state, without counting them: those that were sent stay for ever."""
    stored = MessageCount.objects.order_by().values_list("state")
    return dict(stored.annotate(all=Cast(Sum("number"), BigIntegerField())))  # PostgreSQL's sum of bigint is numeric


def count_mails(state: str) -> int:
    """Return the number of mails in the state, or in all of them ("all")."""
    found = count_by_state()
    return sum(found.values()) if state == "all" else found.get(state, 0)


def build_tabs() -> list[tuple[str, str, int]]:
    """Return each state with its label and the number of mails in it."""
    labels = dict(Message.State.choices) | {"all": pgettext("mails", "all")}
    return [(state, str(labels[state]), count_mails(state)) for state in STATES]


@read_with_frame
def _list_oldest_waiting() -> QuerySet[Message, datetime]:
    """Return when the mail that has waited longest was written."""
    return Message.objects.filter(state=Message.State.WAITING).order_by("written").values_list("written", flat=True)[:1]


def summarize_late_mails(now: datetime) -> LateMailSummary | None:
    """Return the waiting mails that were written more than LATE ago, or LATE_IF_AWAY, counted; None if there are none."""
    if not any(now - written > LATE_IF_AWAY for written in _list_oldest_waiting()):
        return None
    away = Exists(ServerAway.objects.filter(since__lt=now - LATE_IF_AWAY))
    late = Q(written__lt=now - LATE) | Q(away, written__lt=now - LATE_IF_AWAY)
    found = Message.objects.filter(late, state=Message.State.WAITING).aggregate(number=Count("pk"), since=Min("written"))
    return LateMailSummary(found["number"], found["since"], circuit_breaker.find_mail_server_outage()) if found["number"] else None


def find_last_sent_time() -> datetime | None:
    """Return when a mail was last sent."""
    return Message.objects.filter(state=Message.State.SENT).order_by("-id").values_list("ended", flat=True).first()


def count_unsent_bulk_mails() -> int:
    """Return how many bulk mails wait for their first try."""
    return Message.objects.filter(state=Message.State.WAITING, bulk=True, tries=0).count()


@read_with_frame
def _count_failed_by_state() -> QuerySet[Message, tuple[str, int]]:
    return Message.objects.filter(state=Message.State.FAILED).order_by().values_list("state").annotate(Count("pk"))


def count_failed() -> int:
    """Return how many mails failed. Each needs a person to look at it, and to retry or discard it."""
    return sum(number for _state, number in _count_failed_by_state())


def build_navigation_count(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Outbox” in the navigation: failed mails."""
    number = count_failed()
    return NavigationCount(number, asks=True) if number else None


def is_being_sent(message: Message) -> bool:
    return bool(message.state == Message.State.WAITING and message.claimed_until and message.claimed_until > timezone.now())
