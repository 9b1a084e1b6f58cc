"""Read queries for arrivals."""

from datetime import datetime
from typing import Final

from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import pgettext

from apps.inbound_mail.charsets import clean_text
from apps.inbound_mail.mailbox_health import count_pressing
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.raw_headers import extract_headers
from apps.lib.web.navigation import NavigationCount as NavigationCount
from apps.lib.web.request_cache import cache_per_request
from apps.mail.redaction import redact_staff_addresses

STATES: Final = ("quarantined", "waiting", "taken", "deleted", "all")
HEADERS: Final = 64 << 10  # octets of headers that a page shows


def list_arrivals(state: str = "quarantined", search: str = "") -> QuerySet[Arrival]:
    """Return arrivals in the state, newest first, without their content. search: a part of the sender, the Message-ID or the reason."""
    found = Arrival.objects.select_related("ended_by").defer("octets").order_by("-id")
    found = found if state == "all" else found.filter(state=state)
    text = search.replace("\0", "").strip()
    if not text:
        return found
    return found.filter(sender__icontains=text) | found.filter(message_id__icontains=text) | found.filter(reason__icontains=text)


@cache_per_request
def count_by_state() -> dict[str, int]:
    """Return the number of arrivals in each state."""
    return dict(Arrival.objects.order_by().values_list("state").annotate(Count("pk")))


def find_last_taken_time() -> datetime | None:
    """Return when the last mail was taken."""
    return Arrival.objects.filter(state=Arrival.State.TAKEN).order_by("-id").values_list("ended", flat=True).first()


def build_tabs() -> list[tuple[str, str, int]]:
    """Return each state with its label and the number of arrivals in it."""
    found, labels = count_by_state(), dict(Arrival.State.choices) | {"all": pgettext("mails", "all")}
    return [(state, str(labels[state]), sum(found.values()) if state == "all" else found.get(state, 0)) for state in STATES]


def build_navigation_count(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside the page's name in the navigation: mails in quarantine."""
    number = count_pressing()["quarantined"]
    return NavigationCount(number, asks=True) if number else None


def render_headers(arrival: Arrival) -> str:
    """Return the raw headers as plain text, as far as a page shows them, without addresses that act as staff."""
    return redact_staff_addresses(clean_text(extract_headers(bytes(arrival.octets or b""), HEADERS).decode("utf-8", "replace")))
