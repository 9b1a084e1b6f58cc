"""One object of each kind that reaches gateways and that the API can add, change or remove, besides a network's members and pools."""

from ipaddress import ip_address

from apps.bans import allow_list, services
from apps.bans.blocks.services import block_member
from apps.bans.listeners.services import add_listener
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from apps.traffic.rates.services import limit_member
from tests import factories


def one_of_each(of: factories.Network) -> None:
    """Add a forward, a pinhole, a ban on its list, an allow entry, a block, a listener and a rate limit."""
    first, admin = of.residents["m1"], of.admin
    ports = {"protocol": "tcp", "public_port": 8443, "private_port": 443}
    add_forward(holding=first.holding, public=factories.PUBLIC, by=admin, **ports)  # type: ignore[arg-type]
    inside = first.prefix.prefix.network_address + 7
    add_pinhole(holding=first.prefix, address=inside, protocol="tcp", port=22, purpose="ssh", by=admin)
    services.ban_prefix(list=services.create_list(name="By hand", by=admin), prefix="203.0.113.64/26", author=admin)
    allow_list.allow_prefix(prefix="203.0.113.65", author=admin)
    block_member(member=of.residents["m2"].member, reason="infected", message="A device of yours sends spam.", by=admin)
    factories.servers(of)
    add_listener(group=of.group, name="web", address=ip_address("192.0.2.60"), protocol="tcp", port=443, by=admin)
    limit_member(member=of.residents["m3"].member, up_kbit=1000, down_kbit=None, reason="other", note="", until=None, by=admin)
