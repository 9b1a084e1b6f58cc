"""Findings of a connection check, and the verdict that follows from them. Pure: values in, values out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.utils.translation import gettext as _

from apps.lib.ui.states import StateKind


class FaultOrigin(StrEnum):
    """Origin of a finding's fault.

    None; the connection (a block, no address); the network; or a limit that slows it down on purpose.
    """

    NONE = "none"
    CONNECTION = "connection"
    NETWORK = "network"
    LIMIT = "limit"


WORST_FIRST: Final = (FaultOrigin.CONNECTION, FaultOrigin.NETWORK, FaultOrigin.LIMIT)


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of the check. name: an identifier for programs; short: the fault as the rest of a sentence, "" without a fault."""

    name: str
    kind: StateKind
    title: str
    words: str
    fault: FaultOrigin = FaultOrigin.NONE
    short: str = ""


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The verdict in one line, and advice on what to do now."""

    kind: StateKind
    fault: FaultOrigin
    title: str
    advice: str


def build_verdict(findings: Sequence[Finding], *, own: bool) -> CheckVerdict:
    """Build the verdict from the worst finding. own: the reader is the member."""
    faulty = [found for fault in WORST_FIRST for found in findings if found.fault is fault]
    if not faulty:
        return CheckVerdict(StateKind.OK, FaultOrigin.NONE, _render_fine_title(own), _render_fine_advice() if own else "")
    worst = faulty[0]
    return CheckVerdict(worst.kind, worst.fault, _render_title(worst, own), _render_advice(worst) if own else "")


def _render_fine_title(own: bool) -> str:
    if own:
        return _("The network is fine as far as we can see, and your address is active")
    return _("The network is fine as far as the portal can see, and the address is active")


def _render_title(worst: Finding, own: bool) -> str:
    ours = _("It is us: %(what)s") if own else _("It is the network: %(what)s")
    theirs = _("It is your connection: %(what)s") if own else _("It is this connection: %(what)s")
    return (ours if worst.fault is FaultOrigin.NETWORK else theirs) % {"what": worst.short}


def _render_advice(worst: Finding) -> str:
    if worst.fault is FaultOrigin.NETWORK:
        return _("You need not change anything. If it lasts more than a few minutes, open a ticket with this.")
    if worst.fault is FaultOrigin.LIMIT:
        return _("Everything works, only slower. See the end date below.")
    if worst.name == "block":
        return _("Fix what the reason says, then write to us.")
    return _("Open a ticket with this, and the administrators will look at it.")


def _render_fine_advice() -> str:
    return _("Try another device or another cable, and restart your router. If that does not help, open a ticket with this.")
