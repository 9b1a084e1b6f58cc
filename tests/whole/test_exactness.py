"""Usage in the database equals what the gateways forwarded, to the octet, for fifty members and every event that affects counters."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Address
from pathlib import Path
from subprocess import Popen

import pytest
from django.db import connection
from django.utils import timezone

from apps.bans.models import Ban, BanList
from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.gateways.services import collect_counters
from apps.members.models import Member
from apps.nat.services import map_address
from apps.network.models import Gateway, Holding
from apps.traffic.models import Coverage
from apps.traffic.selectors import OctetsByDirection, sum_member_usage
from lab.lab import Lab
from tests import factories
from tests.whole import witness_table
from tests.whole.collector import killed_at_random
from tests.whole.system import GATEWAYS, agent, wait_for
from tests.whole.udp_exchange import Exchange
from tests.whole.witness_table import Books, Where
from tests.whole.worker import environment

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

SEED = 5
MEMBERS = 50
KILLS = 20
HOSTS = ("m1", "m2", "m3", "m4")
LARGEST = 1248  # octets of a packet with the longest datagram
IN_FLIGHT = 2 * LARGEST  # octets that other processors may be forwarding when an element is removed
ROUTES = {  # by IP version: gateways as a member's next hop, the members' prefix, and gateways as the internet router's next hop
    4: (("10.0.0.1", "10.0.0.2"), "198.51.100.0/24", ("192.0.2.3", "192.0.2.4")),
    6: (("2001:db8:b0::1", "2001:db8:b0::2"), "2001:db8:a0::/44", ("2001:db8:fe::3", "2001:db8:fe::4")),
}


@dataclass
class Home:
    """A member, the lab host that has their addresses, and their current holdings."""

    member: Member
    node: str
    four: Holding
    six: Holding

    @property
    def addresses(self) -> tuple[str, str]:
        return str(self.four.prefix.network_address), f"{self.six.prefix.network_address}10"


@dataclass
class Town:
    """Fifty members, their exchange with the internet, and the witness's books."""

    lab: Lab
    network: factories.Network
    homes: list[Home]
    exchange: Exchange
    books: Books = field(default_factory=Books)
    pair: tuple[str, ...] = ()

    def move_in(self, *homes: Home) -> None:
        """Let these members send from all addresses that they hold."""
        for node in HOSTS:
            addresses = [address for home in homes if home.node == node for address in home.addresses]
            batch = "".join(f"addr replace {each}{'/128 dev eth0 nodad' if ':' in each else '/32 dev eth0'}\n" for each in addresses)
            self.lab.run(node, ["ip", "-batch", "-"], text=batch)
        for home in homes:
            self.books.holders |= dict.fromkeys(home.addresses, home.member.name)
        for home in homes:
            self.exchange.begin(home.node, *home.addresses)

    def read_witness(self) -> dict[Where, int]:
        return witness_table.ask(self.lab, *GATEWAYS)

    def hand_over(self, deploy: Callable[[], None], *addresses: str) -> None:
        """Silence these addresses, deploy, and book the octets so far to the old holders. Fail if anything passed during the deploy."""
        self.exchange.cease(*addresses)
        before = self.read_witness()
        deploy()
        after = self.read_witness()
        assert [after[at] for at in before if at.address in addresses] == [before[at] for at in before if at.address in addresses]
        self.books.note(after)

    def check_balance(self) -> None:
        """Pause all flows, read all gateways, and fail unless each member's sums are what the witness saw."""
        with self.exchange.still():
            seen = wait_for(self.all_read)
            self.books.note(seen)
            now = timezone.now()
            told = {
                each.name: sum_member_usage(each, now - timedelta(hours=2), now + timedelta(hours=1), now=now)
                for each in Member.objects.all()
            }
        wrong = {name: (said, self.books.owed_to(name)) for name, said in told.items() if name not in self.pair}
        assert {name: both for name, both in wrong.items() if both[0] != both[1]} == {}
        both = [
            OctetsByDirection(*map(sum, zip(*(of(name) for name in self.pair), strict=True)))
            for of in (self.books.owed_to, told.__getitem__)
        ]
        for owed, said in zip(*both, strict=True):
            assert owed - IN_FLIGHT <= said <= owed, self.pair

    def udp_is_what_was_said(self) -> None:
        """Fail if a UDP packet was forwarded twice, or one was forwarded that was not sent."""
        with self.exchange.still():
            passed: Counter[tuple[str, str]] = Counter()
            for where, octets in self.read_witness().items():
                passed[where.way, where.address] += octets if where.protocol == "udp" else 0
            spoken = deepcopy(self.exchange.spoken)
        for address in self.books.holders:
            assert spoken.far_got[address] <= passed["up", address] <= spoken.near_sent[address]
            assert spoken.near_got[address] <= passed["down", address] <= spoken.far_sent[address]
        assert spoken.near_got.keys() == self.books.holders.keys(), "each had an answer"

    def all_read(self) -> dict[Where, int]:
        """Return the witness's counts if a read of all gateways is complete and nothing passed meanwhile, else an empty dict."""
        before = self.read_witness()
        read = all(map(collect_counters, self.network.gateways))
        return before if read and self.read_witness() == before else {}


@pytest.fixture
def town(lab: Lab, network: factories.Network) -> Iterator[Town]:
    for name in GATEWAYS:
        witness_table.call(lab, name)
    homes = [Home(each.member, node, each.holding, each.prefix) for node, each in network.residents.items()]
    homes += [_newcomer(network, number) for number in range(len(homes), MEMBERS)]
    with Exchange(lab, SEED) as exchange:
        yield Town(lab, network, homes, exchange)


def _newcomer(network: factories.Network, number: int) -> Home:
    who = factories.member(f"Newcomer {number}")
    four = factories.make_holding(who, network.private, f"10.16.1.{number}")
    map_address(holding=four, public=factories.PUBLIC + number // 2, by=network.admin)
    return Home(who, HOSTS[number % len(HOSTS)], four, factories.make_holding(who, network.prefixes, f"2001:db8:a1:{number}::/64"))


def deploy(network: factories.Network) -> None:
    rollout = reconcile(network.group)
    assert rollout
    assert rollout.state == Rollout.State.CONFIRMED, rollout.error


def end(*holdings: Holding) -> None:
    with connection.cursor() as cursor:
        ids = [each.pk for each in holdings]
        for table, key in (("nat_natmapping", "holding_id"), ("network_holding", "id")):
            over = f"UPDATE {table} SET valid = tstzrange(lower(valid), clock_timestamp()) WHERE {key} = ANY(%s) AND upper_inf(valid)"
            cursor.execute(over, [ids])


def moves_away(town: Town, home: Home) -> None:
    """Give this member other addresses."""

    def change() -> None:
        end(home.four, home.six)
        settle(town, home, "10.16.2.1/32", "2001:db8:a2:1::/64", factories.PUBLIC + 40)
        deploy(town.network)

    town.hand_over(change, *home.addresses)
    town.move_in(home)


def change_hands(town: Town, one: Home, other: Home) -> None:
    """Swap the holdings of two members; the addresses stay on their hosts."""

    def change() -> None:
        prefixes = [(str(home.four.prefix), str(home.six.prefix)) for home in (other, one)]
        end(one.four, one.six, other.four, other.six)
        for at, home in enumerate((one, other)):
            settle(town, home, *prefixes[at], factories.PUBLIC + 41 + at)
        one.node, other.node = other.node, one.node
        deploy(town.network)

    town.hand_over(change, *one.addresses, *other.addresses)
    town.move_in(one, other)


def settle(town: Town, home: Home, four: str, six: str, public: IPv4Address) -> None:
    home.four = factories.make_holding(home.member, town.network.private, four)
    home.six = factories.make_holding(home.member, town.network.prefixes, six)
    map_address(holding=home.four, public=public, by=town.network.admin)


def leaves(town: Town, home: Home) -> None:
    def change() -> None:
        Member.objects.filter(pk=home.member.pk).update(state="left")
        deploy(town.network)

    town.hand_over(change, *home.addresses)


def changes_hands_in_mid_sentence(town: Town, of: Home, to: Home) -> None:
    """Change the holder of an address and a prefix that are in use.

    Each octet belongs to one of the two members, except for octets in flight.
    """
    four, six = str(of.four.prefix), str(of.six.prefix)
    end(of.four, of.six)
    factories.make_holding(to.member, town.network.prefixes, six)
    map_address(holding=factories.make_holding(to.member, town.network.private, four), public=factories.PUBLIC + 43, by=town.network.admin)
    deploy(town.network)
    town.pair = (of.member.name, to.member.name)


def switch_gateways(town: Town) -> None:
    """Swap the gateways that carry IPv4 and IPv6, while all members send."""
    Gateway.objects.update(carries4=False, carries6=False)
    Gateway.objects.filter(name="nat-2").update(carries4=True)
    Gateway.objects.filter(name="nat-1").update(carries6=True)
    deploy_if_need_be(town.network)
    for family, (routers, prefix, nexts) in ROUTES.items():
        to = 1 if family == 4 else 0
        for node in HOSTS:
            town.lab.run(node, ["ip", f"-{family}", "route", "replace", "default", "via", routers[to]])
        town.lab.run("uplink", ["ip", f"-{family}", "route", "replace", prefix, "via", nexts[to]])


def deploy_if_need_be(network: factories.Network) -> None:
    rollout = reconcile(network.group, cause="schedule")
    assert rollout is None or rollout.state == Rollout.State.CONFIRMED, rollout.error


def table_is_made_anew(town: Town) -> None:
    """Delete Netzwart's table right after it was read, and deploy it again."""
    with town.exchange.still():
        town.books.note(wait_for(town.all_read))
        for name in GATEWAYS:
            town.lab.run(name, ["nft", "delete", "table", "inet", "netzwart"])
        deploy_if_need_be(town.network)


def kill(process: Popen[str], socket: Path) -> None:
    process.kill()
    process.wait()
    socket.unlink()


def loses_power(town: Town, stack: ExitStack, processes: dict[str, Popen[str]], sockets: Path) -> None:
    """Rebuild nat-2: it loses what it counted since the last reading, and its agent starts again."""
    with town.exchange.still():
        seen = town.read_witness()
        town.books.note({where: octets for where, octets in seen.items() if where.gateway == "nat-1"})
        town.books.forget("nat-2")
        kill(processes["nat-2"], sockets / "nat-2.sock")
        town.lab.rebuild("nat-2")
        witness_table.call(town.lab, "nat-2")
        stack.enter_context(agent(town.lab, "nat-2", sockets, boot="started-again"))


def test_what_the_gateways_let_through_is_what_the_database_says_of_each_member(
    town: Town, lab: Lab, network: factories.Network, processes: dict[str, Popen[str]], sockets: Path, tmp_path: Path
) -> None:
    homes, exchange = town.homes, town.exchange
    deploy(network)
    town.move_in(*homes)
    with ExitStack() as stack:
        with killed_at_random(environment("unix:///nonexistent/redis.sock"), SEED, tmp_path / "collectors.log") as killed:
            exchange.some_rounds()
            Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.64/26", comment="scans")
            deploy(network)
            moves_away(town, homes[10])
            change_hands(town, homes[11], homes[12])
            exchange.some_rounds()
            town.check_balance()
            switch_gateways(town)
            exchange.some_rounds()
            kill(processes["nat-1"], sockets / "nat-1.sock")
            stack.enter_context(agent(lab, "nat-1", sockets))
            leaves(town, homes[13])
            town.check_balance()
            table_is_made_anew(town)
            exchange.some_rounds()
            changes_hands_in_mid_sentence(town, homes[14], homes[15])
            exchange.some_rounds()
            wait_for(lambda: killed() >= KILLS)
        town.check_balance()
        town.udp_is_what_was_said()
        exchange.some_rounds()
        loses_power(town, stack, processes, sockets)
        exchange.some_rounds()
        town.check_balance()
        newest = Coverage.objects.select_related("gateway").latest("since")
        assert (newest.gateway.name, newest.carried) == ("nat-2", False), "the chart says that something is missing"
        agent_channel.close_all_channels()
