"""The demo network: the lab's hosts and some neighbours, accounts that can sign in, a ban list, and a file with the logins.

The file is the only place with the passwords and the token; without it, new ones are made.
"""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import ApiToken, User
from apps.bans import feed_import, feed_parser, services
from apps.desk.seeding import lab_network, network_plan, servers, tickets, usage
from apps.desk.seeding.failover import seed_failover
from apps.desk.seeding.forwards import MINECRAFT, NEXTCLOUD, SSH, TORRENTS, WIREGUARD, SeedForward
from apps.desk.seeding.houses import SeedRoom
from apps.desk.seeding.names import PersonName
from apps.desk.seeding.people import FIRST_NUMBER, NamedResident
from apps.lib.database.validity import is_valid_now
from apps.members.invitation_services import connect_account
from apps.members.models import Member
from apps.nat.models import NatMapping
from apps.network.models import Holding
from apps.preferences.declarations import CONTACT, NETWORK_NAME
from apps.preferences.selectors import get_settings_row, read_setting
from apps.preferences.services import change_settings

SEED: Final = 1751
MEMBERS: Final = 60
FOR_SCRIPTS: Final = "demo"
RESIDENTS: Final = (
    NamedResident(PersonName("Selin Kaya", "selin.kaya", "de"), SeedRoom("B", 2, "214"), date(2024, 10, 1)),
    NamedResident(PersonName("Jonas Brandt", "jonas.brandt", "de"), SeedRoom("B", 1, "107"), date(2023, 10, 1)),
    NamedResident(PersonName("Tunde Okafor", "tunde.okafor", "en"), SeedRoom("A", 3, "302"), date(2024, 4, 1)),
    NamedResident(PersonName("Chiara Esposito", "chiara.esposito", "en"), SeedRoom("C", 1, "112"), date(2025, 10, 1)),
)
FORWARDS: Final = (
    (SeedForward(WIREGUARD, 51820), SeedForward(NEXTCLOUD, 9443), SeedForward(TORRENTS, 51413), SeedForward(SSH, 2222, enabled=False)),
    (SeedForward(MINECRAFT, 25565),),
)
BANS: Final = """
203.0.113.200      # tries ssh passwords, ticket 1142
203.0.113.201      # tries ssh passwords
203.0.113.224/27   # scans all day; their abuse desk does not answer
192.0.2.77         # open resolver, used for amplification
192.0.2.80         # phishing page that copies ours
192.0.2.192/27     # bulletproof hosting
192.0.2.131        # command server of a botnet, from the computing centre
192.0.2.140        # fake update server
2001:db8:bad::/48  # scans IPv6
2001:db8:dead:beef::/64  # sends spam
2001:db8:bead::666 # tries SIP passwords
"""
SHORT_BAN: Final = ("203.0.113.180", "floods port 25565; see again in a week", timedelta(days=7))


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """An account that can sign in."""

    role: str
    username: str
    first_name: str
    last_name: str
    roles: tuple[str, ...]


ACCOUNTS: Final = (
    DemoAccount("administrator", "mara", "Mara", "Lindqvist", ("network_admin", "approver")),
    DemoAccount("second administrator", "jakob", "Jakob", "Wirth", ("network_admin", "approver")),
    DemoAccount("member", "selin", "Selin", "Kaya", ("member",)),
)


def has_demo() -> bool:
    """Whether the database has the demo network."""
    return User.objects.filter(username=ACCOUNTS[0].username).exists() and Member.objects.filter(number=FIRST_NUMBER).exists()


def seed_demo(link: str, today: date, host_keys: Mapping[str, str] = MappingProxyType({}), *, failover: bool = False) -> None:
    """Create everything but the passwords, in one transaction.

    host_keys: of gateways that are reached by ssh. failover: the gateways stand in for each other.
    """
    with transaction.atomic():
        here = lab_network.read_lab_network(MEMBERS)
        members = network_plan.write_plan(network_plan.make_plan(SEED, MEMBERS, here, today, RESIDENTS, FORWARDS), link, host_keys)
        users = {each.username: _make_user(each) for each in ACCOUNTS}
        connect_account(Member.objects.get(pk=members[0]), users["selin"])
        seed_bans(users["mara"])
        servers.seed_servers_and_block(here, members, users["mara"])
        if failover:
            seed_failover(here, users["mara"])
        network = {NETWORK_NAME.name: read_setting(NETWORK_NAME), CONTACT.name: servers.CONTACT}
        change_settings(version=get_settings_row().version, values=network, by=users["mara"])
        usage.seed_usage(SEED, timezone.now(), users["mara"])
        tickets.seed_tickets(members, timezone.now())


def seed_bans(author: User | None) -> None:
    """Create the network's own ban list."""
    own = services.create_list(name="Own", description="By hand, for everybody", by=author)
    feed_import.import_feed(list=own, feed=feed_parser.parse_feed(BANS), by=author)
    prefix, comment, length = SHORT_BAN
    services.ban_prefix(list=own, prefix=prefix, comment=comment, expires=timezone.now() + length, author=author)


def _make_user(account: DemoAccount) -> User:
    names = {"first_name": account.first_name, "last_name": account.last_name}
    return User.objects.create_user(account.username, f"{account.username}@lindenhof.example", roles=list(account.roles), **names)


def reset_and_write_logins(file: Path, url: str) -> list[dict[str, str]]:
    """Make new passwords and a new token, and write them to the file. Return the logins."""
    with transaction.atomic():
        logins = [_reset_login(account) for account in ACCOUNTS]
        admin = User.objects.get(username=ACCOUNTS[0].username)
        ApiToken.objects.filter(user=admin, name=FOR_SCRIPTS).delete()
        _token, key = tokens.create_token(user=admin, name=FOR_SCRIPTS)
        write_privately(file, json.dumps({"url": url, "logins": logins, "token": key, "members": list_residents()}, indent=2) + "\n")
    return logins


def _reset_login(account: DemoAccount) -> dict[str, str]:
    user, password = User.objects.get(username=account.username), secrets.token_hex(6)
    user.set_password(password)
    user.save(update_fields=["password"])
    return {"role": account.role, "username": account.username, "password": password}


def list_residents() -> dict[str, dict[str, Any]]:
    """Return the members on the lab's member hosts, by the host's name."""
    return {host.name: asdict(found) for host in lab_network.read_lab_network(MEMBERS).hosts if (found := _find_resident(host))}


@dataclass(frozen=True, slots=True)
class LabResident:
    """The ids and addresses of a member on a lab host, for scripts."""

    id: int
    holding: int
    address: str
    public: str
    prefix6: str


def _find_resident(host: lab_network.LabHost) -> LabResident | None:
    holding = Holding.objects.filter(is_valid_now(), prefix=f"{host.address}/32").first()
    mapping = NatMapping.objects.filter(is_valid_now(), holding=holding).first()
    if holding is None or mapping is None:
        return None
    return LabResident(holding.member_id, holding.pk, str(host.address), str(mapping.public), str(host.prefix))


def write_privately(file: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(text)
    beside.replace(file)
