"""Exports for other servers and of every table, read back by strict parsers of their formats."""

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address, ip_interface, ip_network
from itertools import product
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts import tokens
from apps.desk.exports import device_addresses, export_files, kea, radius, zones
from apps.desk.exports import tables as offered
from apps.desk.exports.device_addresses import ExportDevice, ExportHost
from apps.lib.api import table_export
from apps.lib.database.validity import make_range_until_now
from apps.members.models import Device, Member
from apps.nat.pinholes.services import add_pinhole
from apps.network.models import Gateway, GatewayGroup, Holding, Pool
from apps.network.services import assign_address
from portal.api import router
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text

GOLDEN = configured.ROOT / "tests" / "golden" / "exports"
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
RECORD = re.compile(rf"((?:{LABEL}\.)*{LABEL}) IN (A|AAAA|PTR) (\S+)")
USER = re.compile(
    r'((?:[0-9A-F]{2}-){5}[0-9A-F]{2}) Cleartext-Password := "\1"\n((?:\t[A-Za-z0-9-]+ := (?:"M-\d+"|[0-9a-f.:/]+)(?:,\n|\n))+)\n'
)
REPLY = re.compile(r'\t(Class|Framed-IP-Address|Delegated-IPv6-Prefix) := "?([^",\n]+)"?')


def zone(content: str) -> Iterator[tuple[str, str, str]]:
    """Yield the records of a master file with their full names. Lines that are not one of the three forms fail the test."""
    head, ttl, *lines = content.split("\n")
    origin = head.removeprefix("$ORIGIN ")
    assert re.fullmatch(rf"(?:{LABEL}\.)+", origin) and ttl == "$TTL 300" and lines.pop() == ""
    for line in lines:
        found = RECORD.fullmatch(line)
        assert found, line
        name, kind, value = found.groups()
        assert len(f"{name}.{origin}") <= 254, "RFC 1035, section 2.3.4"
        yield f"{name}.{origin}", kind, value


def users(content: str) -> dict[str, dict[str, str]]:
    """Return the entries of a RADIUS users file."""
    found, at = {}, 0
    while at < len(content):
        entry = USER.match(content, at)
        assert entry, content[at : at + 200]
        found[entry[1]] = dict(REPLY.findall(entry[2]))
        at = entry.end()
    return found


@pytest.fixture
def network(network: factories.Network) -> factories.Network:
    """A network with hostile rows.

    m1 has two devices with hostile names that become the same label, and an address on one of them. m2 has no device. A member who
    has left holds an address.
    """
    mine, other = network.residents["m1"], network.residents["m2"]
    Device.objects.filter(member=mine.member).update(name='Küche\n$INCLUDE "/etc/passwd" ; x')
    second = Device.objects.create(member=mine.member, name="küche $include /etc/passwd x", mac="00:00:5e:00:53:e1")
    Holding.objects.filter(pk=mine.holding.pk).update(device=second)
    Device.objects.filter(member=other.member).delete()
    gone = factories.member("Left long ago")
    factories.make_holding(gone, network.private, "10.16.200.1")
    Member.objects.filter(pk=gone.pk).update(state="left")
    for number, resident in enumerate(network.residents.values()):
        Member.objects.filter(pk=resident.member.pk).update(number=2207 + number)
    factories.probes(network)
    return network


def make_file(name: str) -> str:
    return "".join(next(each for each in export_files.list_files() if each.name == name).make())


def test_every_file_reads_again_and_says_who_has_what(network: factories.Network) -> None:
    names = [each.name for each in export_files.list_files()]
    assert len(set(names)) == len(names) and {"16.10.in-addr.arpa.zone", "kea-subnet4.json", "names.zone"} <= set(names)
    read = {name: make_file(name) for name in names}
    subnet4, subnet6 = json.loads(read["kea-subnet4.json"]), json.loads(read["kea-subnet6.json"])
    assert [ip_network(each["subnet"]) for each in subnet4] == [network.private.prefix]
    reserved = {each["ip-address"]: each for each in subnet4[0]["reservations"]}
    assert reserved["10.16.0.10"]["hw-address"] == "00:00:5e:00:53:e1"
    assert reserved["10.16.0.10"]["user-context"] == {"member": "M-2207", "device": "küche $include /etc/passwd x"}
    assert "10.16.0.11" not in reserved and "10.16.200.1" not in reserved
    assert all(ip_network(prefix) for each in subnet6[0]["reservations"] for prefix in each["prefixes"])
    forward = list(zone(read["names.zone"]))
    addresses = {value: name for name, _kind, value in forward}
    assert re.fullmatch(r"kueche-include-etc-passwd-x-\d+\.m-2207\.members\.home\.arpa\.", addresses["10.16.0.10"])
    assert addresses["10.16.0.11"] == "m-2208.members.home.arpa." and "10.16.200.1" not in addresses
    back = {name: value for each in names if each.endswith(".arpa.zone") for name, _kind, value in zone(read[each])}
    assert back == {f"{ip_address(value).reverse_pointer}.": name for value, name in addresses.items()}, "each address leads back"
    entries = users(read["radius-users.txt"])
    assert entries["00-00-5E-00-53-E1"] == {"Class": "M-2207", "Framed-IP-Address": "10.16.0.10"}
    assert len(entries) == Device.objects.filter(member__state="active").count()
    targets = json.loads(read["prometheus-probes.json"])
    assert [each["targets"] for each in targets] == [["203.0.113.10:80"], ["[2001:db8:cafe::10]:80"]]
    assert json.loads(read["prometheus-gateways.json"]) == []


def test_the_same_rows_give_the_same_bytes_and_an_etag_spares_a_script_the_rest(network: factories.Network) -> None:
    key = tokens.create_token(user=network.admin, name="s", scopes=["export:read"])[1]
    script = Client(headers={"authorization": f"Bearer {key}"})
    listed = script.get("/api/exports/").json()
    assert [each["name"] for each in listed] == [each.name for each in export_files.list_files()]
    for each in listed:
        got = script.get(f"/api/exports/{each['name']}", headers={"accept": "text/plain"})
        assert b"".join(got.streaming_content).decode() == make_file(each["name"]), each  # type: ignore[attr-defined]  # a stream
        again = script.get(f"/api/exports/{each['name']}", headers={"if-none-match": got["ETag"]})
        assert (again.status_code, again.content, again.get("ETag")) == (304, b"", got["ETag"]), "RFC 9110, section 15.4.5"
    assert wrong(script.get("/api/exports/nothing")) and script.get("/api/exports/nothing").status_code == 404
    assert script.get("/api/nat/forwards/").status_code == 403, "the scope holds"


def test_a_device_with_several_addresses_has_one_reservation_in_a_subnet_since_kea_refuses_a_second(network: factories.Network) -> None:
    mine = network.residents["m1"]
    device = Holding.objects.get(pk=mine.holding.pk).device
    assert device
    Holding.objects.filter(pk=mine.prefix.pk).update(device=device)
    assign_address(member=mine.member, pool=network.private, device=device, by=network.admin)
    more = assign_address(member=mine.member, pool=mine.prefix.pool, device=device, by=network.admin)
    [subnet4], [subnet6] = json.loads(make_file("kea-subnet4.json")), json.loads(make_file("kea-subnet6.json"))
    assert [each["ip-address"] for each in subnet4["reservations"] if each["hw-address"] == device.mac] == ["10.16.0.10"]
    prefixes = [each["prefixes"] for each in subnet6["reservations"] if each["hw-address"] == device.mac]
    assert prefixes == [[str(each.prefix) for each in sorted((mine.prefix, more), key=lambda held: held.prefix)]]


def test_an_address_is_on_the_only_device_only_where_it_is_the_only_address(network: factories.Network) -> None:
    of = network.residents["m3"]
    assert '"ip-address": "10.16.0.12"' in make_file("kea-subnet4.json")
    factories.make_holding(of.member, network.private, "10.16.0.99")
    assert '"ip-address": "10.16.0.12"' not in make_file("kea-subnet4.json")
    assert "m-2209 IN A 10.16.0.12\nm-2209 IN A 10.16.0.99" in "\n".join(sorted(make_file("names.zone").splitlines()))


def test_no_two_devices_of_a_member_have_one_name(network: factories.Network) -> None:
    first = Device.objects.get(member=network.residents["m3"].member)
    same = [Device.objects.create(member=first.member, name="TV", mac=f"00:00:5e:00:54:0{number}") for number in range(3)]
    Device.objects.filter(pk=first.pk).update(name=f"TV {same[2].pk}")
    assert [card.label for _number, card in device_addresses.iter_devices() if card.name.startswith("TV")] == [
        f"tv-{same[2].pk}", "tv", f"tv-{same[1].pk}", f"tv-{same[2].pk}-2"
    ]  # fmt: skip


CHANGES: dict[str, Callable[[factories.Network], object]] = {
    "a device's name": lambda _n: Device.objects.filter(mac="00:00:5e:00:53:e1").update(name="Laptop"),
    "a device's MAC address": lambda _n: Device.objects.filter(mac="00:00:5e:00:53:e1").update(mac="00:00:5e:00:53:e2"),
    "a device that is gone": lambda _n: Device.objects.filter(mac="00:00:5e:00:53:e1").delete(),
    "whose an address is": lambda n: Holding.objects.filter(pk=n.residents["m1"].holding.pk).update(device=None),
    "a member's number": lambda n: Member.objects.filter(pk=n.residents["m3"].member.pk).update(number=9),
    "a member who leaves": lambda n: Member.objects.filter(pk=n.residents["m1"].member.pk).update(state="left"),
    "a prefix that ends": lambda n: Holding.objects.filter(pk=n.residents["m3"].prefix.pk).update(valid=make_range_until_now()),
    "a pool": lambda _n: Pool.objects.create(kind="private4", group=_n.private.group, prefix="10.99.0.0/24", member_length=32),
    "a probe's target": lambda _n: GatewayGroup.objects.update(probe_port=81),
    "a gateway's address": lambda _n: Gateway.objects.filter(name=Gateway.objects.earliest("pk").name).update(address="192.0.2.77"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_a_file_changes_its_etag(network: factories.Network, change: str) -> None:
    said = {each.name: "".join(each.make()) for each in export_files.list_files()}
    known = {each.name: export_files.compute_etag(each) for each in export_files.list_files()}
    assert known == {each.name: export_files.compute_etag(each) for each in export_files.list_files()}
    CHANGES[change](network)
    different = {each.name for each in export_files.list_files() if "".join(each.make()) != said.get(each.name)}
    assert different, "the change is one"
    assert different <= {each.name for each in export_files.list_files() if export_files.compute_etag(each) != known.get(each.name)}


def test_a_file_that_somebody_has_is_not_written_again(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    mara = signed_in(network.admin)
    got = mara.get("/exports/names.zone")
    assert b"".join(got.streaming_content)  # type: ignore[attr-defined]  # a stream
    monkeypatch.setattr(export_files, "_write_file", None)
    assert mara.get("/exports/names.zone", headers={"if-none-match": got["ETag"]}).status_code == 304


def test_the_page_offers_what_there_is_to_network_admins_alone(network: factories.Network) -> None:
    mara, auditor = signed_in(network.admin), signed_in(factories.user("auditor", roles=["auditor"]))
    page = text(mara.get("/exports/"))
    assert "/exports/radius-users.txt" in page and "/api/nat/forwards/?format=csv" in page and "/api/nat/forwards/?format=jsonl" in page
    assert b"Class" in b"".join(mara.get("/exports/radius-users.txt").streaming_content)  # type: ignore[attr-defined]  # a stream
    assert mara.get("/exports/nothing").status_code == 404
    assert auditor.get("/exports/").status_code == auditor.get("/exports/radius-users.txt").status_code == 403


CARDS = st.builds(ExportDevice, st.text(max_size=60), st.binary(min_size=6, max_size=6).map(lambda octets: octets.hex(":")), st.just(""))
PRIVATE = st.integers(0, 2**16 - 1).map(lambda number: ip_network(("10.16.0.0", 32)).network_address + number).map(ip_network)


@given(st.lists(st.tuples(st.integers(1, 10**9), CARDS, PRIVATE), max_size=8))
def test_hostile_names_never_leave_their_place(given_hosts: list[Any]) -> None:
    known = [
        ExportHost(member, prefix, ExportDevice(card.name, card.mac, device_addresses.make_dns_label(card.name)))
        for member, card, prefix in given_hosts
    ]
    pool = Pool(pk=7, prefix=ip_network("10.16.0.0/16"))
    [subnet] = json.loads("".join(kea.render_subnets([(pool, known, {})], "ip-address")))
    assert [each["user-context"]["device"] for each in subnet["reservations"]] == [host.card.name for host in known if host.card]
    assert len(list(zone("".join(zones.render_forward_zone("members.home.arpa", known))))) == len(known)
    assert len(list(zone("".join(zones.render_reverse_zone("16.10.in-addr.arpa", "members.home.arpa", known))))) == len(known)
    entries = users("".join(radius.iter_radius_entries(((host.member, host.card) for host in known if host.card), {}, {})))
    assert set(entries) == {host.card.mac.replace(":", "-").upper() for host in known if host.card}


@pytest.mark.parametrize(
    ("prefix", "origins"),
    [
        ("10.0.0.0/8", ["10.in-addr.arpa"]),
        ("10.16.0.0/15", ["16.10.in-addr.arpa", "17.10.in-addr.arpa"]),
        ("192.0.2.64/26", ["2.0.192.in-addr.arpa"]),
        ("192.0.2.9/32", ["2.0.192.in-addr.arpa"]),
        ("2001:db8::/32", ["8.b.d.0.1.0.0.2.ip6.arpa"]),
        ("2001:db8:a000::/35", ["a.8.b.d.0.1.0.0.2.ip6.arpa", "b.8.b.d.0.1.0.0.2.ip6.arpa"]),
    ],
)
def test_reverse_zones_are_cut_at_octets_and_nibbles_and_hold_all_of_the_pool(prefix: str, origins: list[str]) -> None:
    pool = ip_network(prefix)
    parts = list(zones.iter_reverse_origins(pool))
    assert [origin for origin, _part in parts] == origins
    for (origin, part), end in product(parts, (0, -1)):
        assert ip_interface(part[end]).ip.reverse_pointer.endswith(f".{origin}")
    assert sum(part.num_addresses for _origin, part in parts) == pool.num_addresses


@pytest.mark.parametrize("name", ["kea-subnet4.json", "kea-subnet6.json", "names.zone", "16.10.in-addr.arpa.zone", "radius-users.txt"])
def test_the_files_are_the_ones_that_were_looked_at(network: factories.Network, name: str) -> None:
    Device.objects.filter(name__startswith="Laptop").exclude(member=network.residents["m3"].member).delete()
    ids = {str(pool.pk): f"<{pool.kind}>" for pool in Pool.objects.all()}
    content = re.sub(r'"id": (\d+)', lambda found: f'"id": "{ids[found[1]]}"', make_file(name))
    content = content.replace(f"-{Device.objects.get(mac='00:00:5e:00:53:e1').pk}.", "-ID.")
    if os.environ.get("WRITE_GOLDEN"):  # review the difference afterwards
        (GOLDEN / name).write_text(content)
    assert content == (GOLDEN / name).read_text()


def test_every_table_comes_whole_as_csv_and_as_lines(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_export, "BATCH", 2)
    api = signed_in(network.admin)
    inside = network.residents["m1"].prefix.prefix[9]
    add_pinhole(holding=network.residents["m1"].prefix, address=inside, protocol="tcp", port=22, purpose="=1+1", by=network.admin)
    for prefix, view, _basename in router.registry:
        if not hasattr(view, "list"):
            continue
        objects = api.get(f"/api/{prefix}/?limit=1000").json()["results"]
        said = api.get(f"/api/{prefix}/?format=csv")
        table = list(csv.DictReader(io.StringIO(b"".join(said.streaming_content).decode())))  # type: ignore[attr-defined]  # a stream
        assert said["Content-Type"] == "text/csv; charset=utf-8" and len(table) == len(objects), prefix
        assert [_still({name: table_export.render_cell(value) for name, value in each.items()}) for each in objects] == [
            *map(_still, table)
        ], prefix
        lines = b"".join(api.get(f"/api/{prefix}/?format=jsonl").streaming_content)  # type: ignore[attr-defined]  # a stream
        assert [_still(json.loads(line)) for line in lines.splitlines()] == [*map(_still, objects)], prefix
    pinholes = b"".join(api.get("/api/nat/pinholes/?format=csv&fields=purpose").streaming_content)  # type: ignore[attr-defined]  # a stream
    assert pinholes == b"purpose\r\n'=1+1\r\n"
    assert wrong(api.get("/api/nat/pinholes/?format=csv&limit=5")) and api.get("/api/nat/pinholes/?format=xml").status_code == 406
    assert wrong(api.get("/api/nat/pinholes/?format=csv&nothing=5")), "what cannot be is told as a problem"
    detail = f"/api/nat/pinholes/{network.residents['m1'].prefix.pinholes.get().pk}/?format=csv"
    assert api.get(detail).status_code == 406


def test_the_page_says_how_many_rows_tables_have_and_how_large_files_were(network: factories.Network) -> None:
    mara = signed_in(network.admin)
    tokens.create_token(user=network.admin, name="s")
    first = mara.get("/exports/")
    tables = {table.url: table for _words, found in first.context["groups"] for table in found}
    assert {url: tables[url].rows for url in ("/api/members/members/", "/api/gateways/gateways/", "/api/bans/bans/")} == {
        "/api/members/members/": Member.objects.count(), "/api/gateways/gateways/": 2, "/api/bans/bans/": 0,
    }  # fmt: skip
    assert all(table.rows is not None for table in tables.values()) and tables["/api/accounts/tokens/"].rows == 1, "one's own"
    octets = len(b"".join(mara.get("/exports/radius-users.txt").streaming_content))  # type: ignore[attr-defined]  # a stream
    sizes = {file.name: size for _what, found in mara.get("/exports/").context["files"] for file, size in found}
    assert (sizes["radius-users.txt"], sizes["kea-subnet4.json"]) == (octets, None)


def test_all_tables_are_counted_in_one_query(network: factories.Network) -> None:
    mara = signed_in(network.admin)
    with CaptureQueriesContext(connection) as found:
        mara.get("/exports/")
    assert len([each for each in found if "count(*) FROM" in each["sql"]]) == 1
    assert len(found) <= 10, [each["sql"][:120] for each in found]


def test_of_a_large_table_nobody_waits_for_the_number(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "COUNTED", 2)
    assert "over" in text(signed_in(network.admin).get("/exports/"))


def _still(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row without the field that depends on the time of the request."""
    return {name: value for name, value in row.items() if name != "window"}


@pytest.mark.parametrize("value", ["=1", "+1", "-1", "@x", "\tx", "\rx"])
def test_a_spreadsheet_runs_nothing_of_a_table(value: str) -> None:
    assert table_export.render_cell(value) == f"'{value}"
    assert (
        table_export.render_cell(-1),
        table_export.render_cell(None),
        table_export.render_cell(True),
        table_export.render_cell([value])[:1],
    ) == (
        "-1",
        "",
        "true",
        "[",
    )
