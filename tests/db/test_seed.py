"""manage.py seed: the database gets the planned rows, and the demo is made only once."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection

from apps.accounts.models import ApiToken, User
from apps.accounts.tokens import hash_key
from apps.bans.models import Ban
from apps.gateways.failover_files import build_failover_spec
from apps.lib.database.validity import is_valid_now
from apps.mail.models import Message as Mail
from apps.members.models import Device, Member
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Failover, Gateway, Holding
from apps.tickets.models import Ticket
from firewall.failover import ProgramPaths, render_files
from lab.failover import ADDRESSES, SYNC, build_gateway
from lab.topology import load_topology

pytestmark = pytest.mark.django_db

TABLES = ("members_member", "members_device", "members_room", "network_holding", "nat_natmapping", "nat_portforward", "network_gateway")


@pytest.fixture(autouse=True)
def _var(settings: LazySettings, tmp_path: Path) -> None:
    settings.VAR, settings.LAB_NAME = tmp_path, "demo"


def seed(*arguments: str) -> str:
    said = StringIO()
    call_command("seed", *arguments, stdout=said)
    return said.getvalue()


def everything() -> dict[str, list[tuple[object, ...]]]:
    """Return all rows without their ids and times."""
    left_out = {
        "id",
        "created",
        "changed_in",
        "changed_at",
        "member_id",
        "holding_id",
        "pool_id",
        "group_id",
        "device_id",
        "room_id",
        "tariff_id",
    }
    left_out |= {"site_id", "left_at"}
    found = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SELECT * FROM {table} ORDER BY id")
            names = [column.name for column in cursor.description]
            found[table] = [
                tuple(value for name, value in zip(names, row, strict=True) if name not in left_out) for row in cursor.fetchall()
            ]
    return found


def empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE members_member, members_site, members_tariff, network_gatewaygroup, bans_banlist CASCADE")


@pytest.mark.django_db(transaction=True)
def test_the_same_seed_makes_the_same_rows() -> None:
    seed("--members", "200", "--seed", "5")
    first = everything()
    empty()
    seed("--members", "200", "--seed", "5")
    assert everything() == first
    empty()
    seed("--members", "200", "--seed", "6")
    assert everything() != first


def test_counts_and_constraints_hold() -> None:
    said = seed("--members", "300")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert said.startswith("300 members, ")
    assert Member.objects.count() == 300
    private = Holding.objects.filter(kind="private4")
    assert NatMapping.objects.count() == private.count()
    assert Holding.objects.filter(kind="prefix6").count() == Member.objects.exclude(state="pending").count()
    assert not Holding.objects.filter(is_valid_now(), member__state="left").exists()
    assert not Holding.objects.filter(is_valid_now(), member__state="active", device=None, kind="private4").exists()
    assert Ban.objects.count() == 12
    assert Member.pgh_event_model.objects.filter(pgh_label="insert").count() == 300  # type: ignore[attr-defined]


def test_a_database_that_is_in_use_is_left_alone() -> None:
    seed("--members", "5")
    for arguments in (["--members", "5"], ["--demo"]):
        with pytest.raises(CommandError, match="fills only an empty one"):
            seed(*arguments)
    assert Member.objects.count() == 5


def test_a_size_without_room_is_refused() -> None:
    for members in ("0", "1000001"):
        with pytest.raises(CommandError, match="choose 1 to 1,000,000"):
            seed("--members", members)


def test_the_demo_twice_is_the_demo_once(tmp_path: Path) -> None:
    seed("--demo")
    before, told = everything(), (tmp_path / "demo.json").read_text()
    assert "nothing was changed" in seed("--demo")
    assert (everything(), (tmp_path / "demo.json").read_text()) == (before, told)
    assert Device.objects.values("mac").distinct().count() == Device.objects.count()


def test_the_demo_s_logins_and_token_open_the_portal_and_only_the_owner_reads_them(tmp_path: Path) -> None:
    said = seed("--demo", "--url", "http://127.0.0.1:8123/")
    file = tmp_path / "demo.json"
    assert file.stat().st_mode & 0o777 == 0o600
    demo = json.loads(file.read_text())
    assert demo["url"] == "http://127.0.0.1:8123/"
    assert all(User.objects.get(username=login["username"]).check_password(login["password"]) for login in demo["logins"])
    assert all(login["password"] in said for login in demo["logins"])
    assert ApiToken.objects.get(sha256=hash_key(demo["token"])).user.is_staff
    selin = User.objects.get(username="selin")
    assert (selin.is_staff, selin.member.name) == (False, "Selin Kaya")


def test_the_demo_s_first_members_live_on_the_lab_s_hosts(tmp_path: Path) -> None:
    seed("--demo")
    told = json.loads((tmp_path / "demo.json").read_text())["members"]
    hosts = load_topology().list_by_role("member")
    assert [host.name for host in hosts] == list(told)
    for host in hosts:
        facts = told[host.name]
        holding = Holding.objects.get(is_valid_now(), pk=facts["holding"])
        assert (facts["id"], facts["address"], holding.address) == (holding.member_id, host.ipv4, host.ipv4)
        assert Holding.objects.get(is_valid_now(), member=facts["id"], kind="prefix6").address == facts["prefix6"]
        assert str(NatMapping.objects.get(is_valid_now(), holding=holding).public) == facts["public"]


def test_the_demo_s_gateways_stand_in_for_each_other_with_the_files_that_the_lab_runs(tmp_path: Path) -> None:
    seed("--demo", "--failover", str(tmp_path / "failover"))
    row = Failover.objects.get()
    assert set(build_failover_spec(row).addresses) == set(ADDRESSES)
    for name in SYNC:
        expected = render_files(build_gateway(name, interval=row.interval), ProgramPaths.build_for_lab(name))
        written = {file.name: file.read_text() for file in (tmp_path / "failover" / name).iterdir()}
        assert written == {Path(path).name: text for path, text in expected.items()}


def test_the_files_of_failover_are_written_again_as_the_settings_are_by_then(tmp_path: Path) -> None:
    seed("--demo", "--failover", str(tmp_path / "failover"))
    Failover.objects.update(interval=50)
    seed("--demo", "--failover", str(tmp_path / "failover"))
    assert "advert_int 0.50" in (tmp_path / "failover" / "nat-1" / "keepalived.conf").read_text()


def test_a_demo_without_failover_writes_no_files_for_it_later(tmp_path: Path) -> None:
    seed("--demo")
    (tmp_path / "demo.json").unlink()
    seed("--demo", "--failover", str(tmp_path / "failover"))
    assert not Failover.objects.exists()
    assert not (tmp_path / "failover").exists()


def test_the_demo_has_a_ticket_in_each_state_and_sends_no_mail_for_them() -> None:
    seed("--demo")
    assert set(Ticket.objects.values_list("state", flat=True)) == set(Ticket.State.values)
    assert Ticket.objects.get(member=None).messages.get().via == "mail"
    assert not Mail.objects.exists()


def test_the_demo_s_gateways_are_the_lab_s() -> None:
    seed("--demo")
    rows = list(Gateway.objects.values_list("name", "link", "lan", "wan", "management", "sync", "carries4", "carries6"))
    assert rows == [
        ("nat-1", "lab", "lan0", "wan0", "mgmt0", "sync0", True, False),
        ("nat-2", "lab", "lan0", "wan0", "mgmt0", "sync0", False, True),
    ]


@pytest.mark.parametrize("lab", ["demo", ""])
def test_gateways_are_in_memory_when_asked_or_without_a_lab(settings: LazySettings, lab: str) -> None:
    settings.LAB_NAME = lab
    seed("--demo", *(["--in-memory"] if lab else []))
    assert set(Gateway.objects.values_list("link", "probe_interface")) == {("local", "")}, "in memory there is nothing to probe through"


def test_gateways_in_the_lab_are_probed_as_the_lab_is_wired() -> None:
    seed("--demo")
    fields = ("name", "probe_interface", "probe_source4", "probe_public4", "probe_source6")
    assert [tuple(map(str, row)) for row in Gateway.objects.values_list(*fields)] == [
        ("nat-1", "probe0", "172.31.254.2", "192.0.2.251", "2001:db8:b1::2"),
        ("nat-2", "probe0", "172.31.254.6", "192.0.2.252", "2001:db8:b2::2"),
    ]
    group = Gateway.objects.get(name="nat-1").group
    assert (str(group.probe_target4), str(group.probe_target6), group.probe_port) == ("203.0.113.10", "2001:db8:cafe::10", 80)
    assert group.responder_port == 7077


def test_the_demo_leaves_what_scripts_try_free() -> None:
    seed("--demo")
    assert not PortForward.objects.filter(public="198.51.100.7", public_port=8443).exists()
    assert not Ban.objects.filter(prefix__covers="203.0.113.66").exists()
    assert not Ban.objects.filter(prefix__covers="203.0.113.10").exists()


def test_a_lost_demo_file_is_written_anew_with_new_passwords(tmp_path: Path) -> None:
    seed("--demo")
    file = tmp_path / "demo.json"
    before = json.loads(file.read_text())
    file.unlink()
    assert "with new passwords" in seed("--demo")
    after = json.loads(file.read_text())
    assert after["token"] != before["token"]
    assert ApiToken.objects.count() == 1
    assert Member.objects.count() == 60
