"""Trace questions, as a page's URL or a command asks them."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from ipaddress import ip_network

from django.utils.translation import gettext as _

from apps.bans.listeners.models import ServerInterface
from apps.desk.selectors.search import parse_search
from apps.lib.fields import Address
from apps.members.models import Member
from apps.members.selectors import search_members as find_members
from apps.network.models import Gateway, Holding, Pool
from apps.network.selectors import list_held_now
from firewall.tracing import GatewayRoute, Icmp, Packet, RoutingTable

NUMBERS = {"tcp": 6, "udp": 17}
EPHEMERAL = 50_000  # a typical source port of a client
SERVERS = "servers"
INTERFACES = {"lan": "lan", "wan": "wan", SERVERS: "", "management": "management", "sync": "sync", "probe": "probe_interface"}
"""Where a packet may come in, and the gateway's column that says what that interface is called; the servers' is a row of its own."""


class TracedPacket(StrEnum):
    """The packet of the connection that the question is about."""

    FIRST = "first"
    NEXT = "next"
    ANSWER = "answer"


class InvalidQuestion(ValueError):  # noqa: N818 - named for a condition, not as an error
    """The question is invalid. `field` is the field concerned; the message says what to do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)  # both, so that it can be sent to another process
        self.field, self._message = field, message

    def __str__(self) -> str:
        return self._message


@dataclass(frozen=True, slots=True)
class TraceQuestion:
    """A question about a packet at a gateway.

    interface: one of INTERFACES; "" for where the source belongs. at: None for now. runs: trace through what the gateway has
    confirmed instead of the desired state. named: the answer may name members.
    """

    gateway: Gateway
    source: Address
    destination: Address
    protocol: str = "tcp"
    port: int = 443
    source_port: int = EPHEMERAL
    interface: str = ""
    way: TracedPacket = TracedPacket.FIRST
    at: datetime | None = None
    runs: bool = False
    named: bool = True


def find_interface(gateway: Gateway, side: str) -> str:
    """Return the name of the gateway's interface on this side, one of INTERFACES; "" if it has none."""
    if side == SERVERS:
        known: ServerInterface | None = getattr(gateway, "server_interface", None)
        return known.name if known else ""
    name: str = getattr(gateway, INTERFACES[side])
    return name


def build_routes(question: TraceQuestion, gateway: Gateway, routes: RoutingTable) -> RoutingTable:
    """Return the gateway's routes.

    A server without a listener is in no table here, so only the question can say that the source is a server. Then a route for it
    is added.
    """
    card = find_interface(gateway, SERVERS) if question.interface == SERVERS else ""
    return replace(routes, routes=(*routes.routes, GatewayRoute(ip_network(question.source), card))) if card else routes


def is_source_side_guessed(question: TraceQuestion, gateway: Gateway, routes: RoutingTable) -> bool:
    """Whether it is unknown where the source belongs, and it may be a server. The packet is then taken as coming from outside."""
    is_known = routes.find_interface(question.source) not in ("", gateway.wan)
    return not (question.interface or is_known) and bool(find_interface(gateway, SERVERS))


def build_packet(question: TraceQuestion, gateway: Gateway, routes: RoutingTable) -> Packet:
    """Return the first packet of the connection, as it arrives at the gateway."""
    card = find_interface(gateway, question.interface) if question.interface else ""
    interface = card or routes.find_interface(question.source) or gateway.wan
    source, destination = question.source, question.destination
    if question.protocol == "icmp":
        number, kind = (1, 8) if source.version == 4 else (58, 128)
        return Packet(interface, source, destination, number, icmp=Icmp(kind, id=question.source_port))
    return Packet(interface, source, destination, NUMBERS[question.protocol], question.source_port, question.port)


def parse_endpoints(source: str, destination: str) -> tuple[Address, Address]:
    """Return both addresses, of the same IP version; a member stands for an address that they hold. Raises InvalidQuestion."""
    one, other = parse_endpoint("source", source), parse_endpoint("destination", destination)
    version = next((each.version for each in (one, other) if not isinstance(each, Member)), 4)
    first = _get_address("source", one, version)
    second = _get_address("destination", other, version)
    if first.version != second.version:
        raise InvalidQuestion(
            "destination", _("%(source)s and %(destination)s are not of the same IP version.") % {"source": first, "destination": second}
        )
    return first, second


def parse_endpoint(field: str, text: str) -> Address | Member:
    """Return the address, or the one member, that the text means. Raises InvalidQuestion."""
    asked = parse_search(text)
    if asked.address:
        return asked.address
    found = list(find_members(Member.objects.all(), text).order_by("name", "id")[:2]) if text.strip() else []
    if not found:
        raise InvalidQuestion(field, _("“%(text)s” is neither an address nor a known member.") % {"text": text})
    if len(found) > 1:
        raise InvalidQuestion(
            field, _("“%(text)s” matches several members. Enter a member number such as M-2207, or an address.") % {"text": text}
        )
    return found[0]


def _get_address(field: str, end: Address | Member, version: int) -> Address:
    if not isinstance(end, Member):
        return end
    kind = Pool.Kind.PRIVATE4 if version == 4 else Pool.Kind.PREFIX6
    held: Holding | None = list_held_now(end).filter(kind=kind).first()
    if held is None:
        raise InvalidQuestion(field, _("%(member)s holds no IPv%(version)s address.") % {"member": end, "version": version})
    first: Address = held.prefix[0] if version == 4 else held.prefix[1]
    return first
