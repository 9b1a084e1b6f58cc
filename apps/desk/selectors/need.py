"""One line of the dashboard's list of what needs somebody."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import NoReverseMatch, reverse

from apps.lib.ui.states import StateLabel


@dataclass(frozen=True)
class Need:
    """Something that needs somebody: its state, what it is, the evidence, since when (or when), and the one thing to press."""

    key: str
    state: StateLabel
    what: str
    evidence: str
    at: datetime | None
    verb: str
    url: str
    is_decision: bool = False  # somebody else's agreement is what is missing


def find_page_url(name: str, *arguments: object) -> str:
    """The address of a page; empty while nobody has built it."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""
