"""A network of many groups of two gateways each, written into an empty database, with members in every group."""

from ipaddress import IPv4Address, IPv6Address, ip_network

from django.utils import timezone

from apps.accounts.models import User
from apps.bans.models import BanList
from apps.members.models import Tariff
from apps.network.models import Gateway, GatewayGroup, Pool
from benchmarks.changes import run_sql

MEMBERS = 100  # of a group
PAIR = 2
PRIVATE, PUBLIC, PREFIXES = int(IPv4Address("10.0.0.0")), int(IPv4Address("198.18.0.0")), int(IPv6Address("2001:db8::"))
UNREACHABLE = 1_000_000  # removals that wait for an approval: there is no second person
TABLES = ("members_member", "members_device", "network_holding", "nat_natmapping")
FILL = """
SET session_replication_role = replica;
INSERT INTO members_member (id, version, number, name, email, language, state, tariff_id, since, note)
    SELECT n, 1, n, 'Member ' || n, '', 'en', 'active', 1, '2025-10-01', '' FROM generate_series(1, {groups} * {members}) n;
INSERT INTO members_device (id, member_id, name, mac)
    SELECT id, id, 'Laptop', ('02' || lpad(to_hex(id), 10, '0'))::macaddr FROM members_member;
INSERT INTO network_holding (id, member_id, device_id, pool_id, group_id, kind, pool_prefix, prefix, valid)
    SELECT m.id, m.id, m.id, p.id, p.group_id, p.kind, p.prefix, set_masklen(host(p.prefix)::inet + 1 + (m.id - 1) % {members}, 32)::cidr,
        tstzrange(now() - m.id * interval '1 s', NULL)
    FROM members_member m JOIN network_pool p ON p.kind = 'private4' AND p.group_id = (m.id - 1) / {members} + 1;
INSERT INTO nat_natmapping (version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid)
    SELECT 1, h.id, h.group_id, h.kind, h.valid, p.id, p.kind, p.prefix, host(p.prefix)::inet + 1 + h.id % 200, h.valid
    FROM network_holding h JOIN network_pool p ON p.kind = 'public4' AND p.group_id = h.group_id;
SET session_replication_role = origin;
"""


def write_network(gateways: int, members: int = MEMBERS) -> User:
    """Write groups of two gateways each, which are live and served on this machine, and their members. Return an administrator."""
    Tariff.objects.create(pk=1, name="Standard")
    BanList.objects.create(pk=1, name="own")
    for number in range(1, gateways // PAIR + 1):
        _write_group(number)
    run_sql(FILL.format(groups=gateways // PAIR, members=members))
    for table in TABLES:
        run_sql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")  # noqa: S608 - constants
    run_sql("ANALYZE")
    return User.objects.create(username="mara", roles=["network_admin", "approver"])


def _write_group(number: int) -> None:
    group = GatewayGroup.objects.create(pk=number, name=f"House {number}", live_since=timezone.now(), removal_least=UNREACHABLE)
    for half in range(PAIR):
        interfaces = {"lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0"}
        carries = {"carries4": half == 0, "carries6": half == 1, "management_networks": [ip_network("172.31.0.0/24")]}
        Gateway.objects.create(group=group, name=f"house-{number}-{half + 1}", link=Gateway.Link.LOCAL, **interfaces, **carries)
    for kind, name, prefix, length in (
        (Pool.Kind.PRIVATE4, "private", ip_network((PRIVATE + (number << 16), 16)), 32),
        (Pool.Kind.PUBLIC4, "public", ip_network((PUBLIC + (number << 8), 24)), 32),
        (Pool.Kind.PREFIX6, "prefix", ip_network((PREFIXES + (number << 80), 48)), 64),
    ):
        Pool.objects.create(group=group, kind=kind, name=f"{name} {number}", prefix=prefix, member_length=length)
