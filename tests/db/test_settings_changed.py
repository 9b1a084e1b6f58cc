"""Settings of the network: read, changed, reset and undone, by services and by the command."""

from io import StringIO
from typing import Any

import pghistory
import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.bans.blocks.models import Notice
from apps.bans.blocks.notice import render_notice
from apps.lib.errors import Conflict, Problem
from apps.lib.web.request_cache import RequestCacheMiddleware
from apps.mail.mail_templates import render_mail
from apps.nat.models import PortForward
from apps.nat.own_forwards import open_port
from apps.nat.rules.services import change_port_rules, get_port_rules
from apps.preferences.declarations import ERASE_DAYS, FORBIDDEN_PORTS, HOLD_DAYS, LOWEST_PORT, NETWORK_NAME, SETTINGS
from apps.preferences.models import NetworkSettings
from apps.preferences.selectors import get_settings_row, read_setting
from apps.preferences.services import change_settings
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


def change(**values: Any) -> NetworkSettings:
    return change_settings(version=get_settings_row().version, values=values, by=None)


def run(*arguments: str) -> str:
    told = StringIO()
    call_command("setting", *arguments, stdout=told)
    return told.getvalue()


def test_a_setting_that_nobody_changed_has_its_default() -> None:
    assert read_setting(LOWEST_PORT) == 1024
    assert not NetworkSettings.objects.exists()


def test_the_environment_gives_the_default_and_the_page_wins(settings: LazySettings) -> None:
    settings.HOLD_DAYS = 20
    assert read_setting(HOLD_DAYS) == 20
    change(hold_days=5)
    assert read_setting(HOLD_DAYS) == 5
    change(hold_days=None)
    assert read_setting(HOLD_DAYS) == 20


def test_an_empty_list_of_ports_is_a_value_and_not_the_default() -> None:
    change(forbidden_ports=[25, 25])
    assert read_setting(FORBIDDEN_PORTS) == [25]
    row = change(forbidden_ports=[])
    assert row.forbidden_ports == []  # type: ignore[attr-defined]  # a declared column


def test_only_the_settings_that_are_named_change() -> None:
    change(hold_days=5)
    change(network_name="Haus Linde")
    assert (read_setting(HOLD_DAYS), read_setting(NETWORK_NAME)) == (5, "Haus Linde")


def test_a_change_since_is_a_conflict_and_nothing_is_lost() -> None:
    change(hold_days=5)
    with pytest.raises(Conflict):
        change_settings(version=0, values={"hold_days": 6}, by=None)
    with pytest.raises(Conflict):
        change_settings(version=3, values={"hold_days": 6}, by=None)
    assert read_setting(HOLD_DAYS) == 5


def test_data_are_not_erased_before_addresses_are_free() -> None:
    with pytest.raises(Problem, match="kept for 14 days") as refused:
        change(erase_days=13)
    assert refused.value.fieldname == ERASE_DAYS.name
    with pytest.raises(Problem, match="kept for 200 days"):
        change(hold_days=200)
    change(hold_days=200, erase_days=200)
    with pytest.raises(Problem, match="kept for 201 days"):
        change(hold_days=201)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(Problem, match="no setting “colour”"):
        change(colour="green")
    with pytest.raises(Problem, match="no setting “colour”"):
        change(colour=None)


@pytest.mark.parametrize(
    "nonsense",
    [
        {"id": 2},
        {"lowest_port": 0},
        {"lowest_port": 65536},
        {"network_name": ""},
        {"network_name": " Linde"},
        {"network_name": "Lin\nde"},
        {"contact": "a\nb"},
        {"default_language": "xx"},
        {"forbidden_ports": [0]},
        {"forbidden_ports": [25, 70000]},
        {"forbidden_ports": [25] * 2001},
        {"hold_days": 20, "erase_days": 19},
    ],
    ids=str,
)
def test_the_database_refuses_nonsense(nonsense: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        NetworkSettings.objects.create(**nonsense)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_the_database_accepts_every_default(setting: Any) -> None:
    change(**{setting.name: setting.default})
    assert read_setting(setting) == setting.default


def test_a_page_asks_the_database_once_for_all_settings(rf: Any) -> None:
    with CaptureQueriesContext(connection) as captured:
        RequestCacheMiddleware(lambda _request: [read_setting(each) for each in SETTINGS])(rf.get("/"))  # type: ignore[arg-type,return-value]
    assert len(captured) == 1


def test_the_history_has_one_event_of_each_change() -> None:
    with pghistory.context(user=1):
        change(hold_days=5)
        change(hold_days=6)
    events = NetworkSettings.pgh_event_model.objects.order_by("pgh_id")  # type: ignore[attr-defined]  # set by pghistory
    assert list(events.values_list("pgh_label", "hold_days")) == [("insert", None), ("update", 5), ("update", 6)]


# the command


def test_the_command_lists_every_setting_with_its_value_and_source(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETZWART_NETWORK_NAME", "Lindenhof")
    settings.NETWORK_NAME = "Lindenhof"
    change(hold_days=5)
    listed = run("list")
    assert all(each.name in listed for each in SETTINGS)
    assert "5 days\n" in listed
    assert "Lindenhof (default from NETZWART_NETWORK_NAME)" in listed
    assert "1024 (default)" in listed


def test_the_command_sets_and_resets() -> None:
    assert run("set", "forbidden_ports", "25, 135-139") == "Forbidden ports: 25, 135-139\n"
    assert read_setting(FORBIDDEN_PORTS) == [25, 135, 136, 137, 138, 139]
    assert run("reset", "forbidden_ports") == "Forbidden ports: none (default)\n"
    assert "1024" in run("show", "lowest_port")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("set", "colour", "green"), "There is no setting colour. Settings: network_name, "),
        (("set", "hold_days", "soon"), "“soon” is not a number from 0 to 365"),
        (("set", "hold_days", "999"), "from 0 to 365"),
        (("set", "default_language", "fr"), "“fr” is none of en, de"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)


# what reads them


def test_a_group_without_rules_has_those_of_the_network(network: factories.Network) -> None:
    change(lowest_port=2000, longest_range=5, forbidden_ports=[2050])
    rules = get_port_rules(network.group.pk)
    assert (rules.lowest, rules.longest, rules.forbidden, rules.version) == (2000, 5, [2050], 0)
    change_port_rules(group=network.group, version=0, lowest=1500, longest=9, forbidden=[], by=network.admin)
    change(lowest_port=3000)
    assert get_port_rules(network.group.pk).lowest == 1500


def test_a_member_is_told_which_ports_there_are_and_open_ports_stay(network: factories.Network) -> None:
    member = network.residents["m1"]
    before = list(PortForward.objects.filter(holding__member=member.member).values_list("public_port", "version"))
    change(lowest_port=50_000)
    with pytest.raises(Problem, match=r"Ports below 50000 are opened by the administrators. Choose one from 50000 to 65535"):
        open_port(
            member=member.member, holding=member.holding, public=factories.PUBLIC, protocol="tcp",
            public_port=8443, private_port=443, by=network.admin,
        )  # fmt: skip
    assert list(PortForward.objects.filter(holding__member=member.member).values_list("public_port", "version")) == before


def test_the_name_and_the_contact_are_in_pages_mails_and_notices(network: factories.Network) -> None:
    change(network_name="Haus Linde", contact="netz@linde.example, room 12")
    assert "Haus Linde" in text(signed_in(network.admin).get("/system/"))
    mail = render_mail("ticket_answer", "en", {})
    for shown in (mail.text, mail.html, render_notice(None, "").body.decode()):
        assert "Haus Linde" in shown
        assert "netz@linde.example, room 12" in shown


def test_the_contact_of_a_groups_notice_wins(network: factories.Network) -> None:
    change(contact="netz@linde.example")
    address = network.residents["m1"].holding.prefix.network_address
    Notice.objects.update_or_create(group=network.group, defaults={"contact": "room 12"})
    assert "room 12" in render_notice(address, "").body.decode()


def test_a_notice_speaks_the_default_language_where_the_browser_speaks_none_of_ours() -> None:
    change(default_language="de")
    assert ("Content-Language", "de") in render_notice(None, "fr").headers
    assert ("Content-Language", "en") in render_notice(None, "en").headers
