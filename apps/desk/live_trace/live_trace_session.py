"""Live trace sessions on a gateway: starting, polling and ending them.

Takes a LiveTraceRequest; returns values of firewall/live_trace.py. Raises InvalidQuestion for an invalid question, Problem when the
gateway does not answer or refuses.
"""

from dataclasses import dataclass
from ipaddress import ip_network
from typing import cast

import structlog
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.desk.packet_trace.question import NUMBERS, InvalidQuestion, find_interface, parse_endpoint
from apps.desk.selectors.search import parse_search
from apps.lib.errors import Problem
from apps.lib.fields import Prefix
from apps.members.models import Member
from apps.network.models import Gateway, Pool
from apps.network.selectors import list_held_now
from firewall import wire
from firewall.live_trace import PACKETS, SECONDS, Look, Seen, Watch, Watching

USUAL_SECONDS, USUAL_PACKETS = 15, 20
ANY = "any"  # an empty text means the same
_KINDS = {4: Pool.Kind.PRIVATE4, 6: Pool.Kind.PREFIX6}
_ICMP = {4: 1, 6: 58}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LiveTraceRequest:
    """The packets to watch.

    Ends are addresses, prefixes or members, and one of them may be any; protocol "", port 0 and interface "" mean any.
    """

    gateway: Gateway
    source: str = ""
    destination: str = ""
    protocol: str = ""
    port: int = 0
    interface: str = ""
    seconds: int = USUAL_SECONDS
    most: int = USUAL_PACKETS


def build_watch(wish: LiveTraceRequest) -> Watch:
    """Convert the request to the message for the gateway. Raises InvalidQuestion for an invalid one."""
    source, destination = _parse_prefixes(wish.source, wish.destination)
    if wish.port and wish.protocol not in NUMBERS:
        raise InvalidQuestion("port", _("Only TCP and UDP have ports: choose one of them, or leave the port out."))
    for field, value, possible in (("seconds", wish.seconds, SECONDS), ("most", wish.most, PACKETS), ("port", wish.port, range(65536))):
        if value not in possible:
            raise InvalidQuestion(field, _("At least %(least)s, at most %(most)s.") % {"least": possible[0], "most": possible[-1]})
    card = find_interface(wish.gateway, wish.interface) if wish.interface else ""
    if wish.interface and not card:
        raise InvalidQuestion("interface", _("This gateway has no such interface."))
    version = next(each.version for each in (source, destination) if each)
    protocol = _ICMP[version] if wish.protocol == "icmp" else NUMBERS.get(wish.protocol, 0)
    return Watch(source, destination, protocol, wish.port, card, wish.seconds, wish.most)


def _parse_prefixes(source: str, destination: str) -> tuple[Prefix | None, Prefix | None]:
    one, other = _parse_end("source", source), _parse_end("destination", destination)
    if one is None and other is None:
        raise InvalidQuestion("source", _("Enter a source or a destination, or every packet would be watched."))
    version = next((each.version for each in (one, other) if each and not isinstance(each, Member)), 0)
    first, second = _get_prefix("source", one, version), _get_prefix("destination", other, version)
    if first and second and first.version != second.version:
        raise InvalidQuestion(
            "destination", _("%(source)s and %(destination)s are not of the same IP version.") % {"source": first, "destination": second}
        )
    return first, second


def _parse_end(field: str, text: str) -> Prefix | Member | None:
    if text.strip() in ("", ANY):
        return None
    if prefix := parse_search(text).prefix:
        return prefix
    found = parse_endpoint(field, text)
    return found if isinstance(found, Member) else ip_network(found)


def _get_prefix(field: str, of: Prefix | Member | None, version: int) -> Prefix | None:
    """Return the prefix of an end.

    A member stands for their holding: of the other end's IP version, else IPv4 if there is one.
    """
    if not isinstance(of, Member):
        return of
    for each in [version] if version else [4, 6]:
        if holding := list_held_now(of).filter(kind=_KINDS[each]).first():
            return cast("Prefix", holding.prefix)
    raise InvalidQuestion(field, _("%(member)s holds no IPv%(version)s address.") % {"member": of, "version": version or "4, IPv6"})


def start_live_trace(channel: AgentChannel, wish: LiveTraceRequest, *, by: User | None) -> int:
    """Start the trace and return its number, for `read_live_trace`. by: the user named in the log, None for the command line."""
    what = build_watch(wish)
    answer = _ask(channel, what)
    if not isinstance(answer, Watching):
        raise _build_refusal_problem(channel, answer)
    about = {"source": str(what.source or ANY), "destination": str(what.destination or ANY), "seconds": what.seconds, "most": what.most}
    log.info("live trace", gateway=wish.gateway.name, by=by.pk if by else "command", **about)
    return answer.watch


def read_live_trace(channel: AgentChannel, number: int, *, after: int = 0, end: bool = False) -> Seen:
    """Return the events after the first `after`. end: end the trace."""
    answer = _ask(channel, Look(number, after, end))
    if not isinstance(answer, Seen):
        raise _build_refusal_problem(channel, answer)
    return answer


def _ask(channel: AgentChannel, request: wire.Request) -> wire.Reply:
    try:
        return channel.ask(request)
    except Unreachable as fault:
        raise Problem(_("%(gateway)s does not answer: %(fault)s") % {"gateway": channel.name, "fault": fault}) from fault


def _build_refusal_problem(channel: AgentChannel, answer: wire.Reply) -> Problem:
    text = answer.text if isinstance(answer, wire.Refused) else type(answer).__name__
    return Problem(_("%(gateway)s refuses: %(fault)s") % {"gateway": channel.name, "fault": text})
