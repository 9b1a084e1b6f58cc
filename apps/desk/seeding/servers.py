"""Seeded servers of the network: listeners, the notice page, and what blocked members can reach."""

from apps.accounts.models import User
from apps.bans.blocks import services as blocks
from apps.bans.listeners.services import add_listener
from apps.bans.models import Notice
from apps.desk.seeding.lab_network import LabNetwork
from apps.members.models import Member
from apps.network.models import GatewayGroup

CONTACT = "netzwart@lindenhof.example, House A, room 001, Tuesdays 20:00"
LISTENING = (("Website", "tcp", 80), ("Website", "tcp", 443), ("Name server", "udp", 53), ("Name server", "tcp", 53))
BLOCKED = 7  # index of the first member who may be blocked: not one on a lab host


def seed_servers_and_block(ground: LabNetwork, members: list[int], by: User) -> None:
    """Add listeners on the web server, the notice page, and a block of one member."""
    group = GatewayGroup.objects.get()
    web, page = ground.services["web"], ground.services["notice"]
    empty, _made = Notice.objects.get_or_create(group=group)  # as its page does
    notice = blocks.set_notice(notice=empty, version=empty.version, ipv4=page.ipv4, ipv6=page.ipv6, port=empty.port, contact=CONTACT, by=by)
    for name, protocol, port in LISTENING:
        for address in (web.ipv4, web.ipv6):
            add_listener(group=group, name=name, address=address, protocol=protocol, port=port, by=by)
            blocks.add_reachable(notice=notice, name=name, address=address, protocol=protocol, port=port, by=by)
    member = Member.objects.filter(pk__in=members[BLOCKED:], state=Member.State.ACTIVE).earliest("pk")
    message = "A device of yours sends mail to thousands. Find out which one, clean it, then write to us."
    blocks.block_member(member=member, reason="infected", message=message, note="Abuse mail of the uplink, ticket 1187", by=by)
