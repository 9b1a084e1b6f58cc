"""Gateway profiles: the database's constraints, the rollout of a change, and pages that show the kernels' actual values."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.deployments import services
from apps.deployments.desired_state import policy_snapshot
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.observed_state import drift
from apps.deployments.revision_pages import ruleset_comparison
from apps.deployments.revision_pages.change_summary import parse_summary_lines, render_summary
from apps.deployments.rollouts.decisions import release_revision_hold
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.rollouts.rollback import roll_back
from apps.deployments.services import reconcile
from apps.gateways import kernel_gauges
from apps.gateways.group_settings import change_profile, get_profile
from apps.gateways.services import collect_counters
from apps.lib.errors import Conflict
from apps.network.models import Pool, Profile
from firewall import policy as firewall
from firewall import wire
from firewall.profile import SysctlDifference, build_sysctls
from firewall.ruleset import EMPTY
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import queries, signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)

ESTABLISHED = "net.netfilter.nf_conntrack_tcp_timeout_established"
VALUES: dict[str, Any] = {name: getattr(firewall.Profile(), name) for name in firewall.Profile.__dataclass_fields__}
FORM = {"version": 0, "managed": "on"} | {name: value for name, value in VALUES.items() if name != "tcp_loose"}


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


def path(network: factories.Network) -> str:
    return f"/gateways/groups/{network.group.pk}/profile/"


def tune_group(network: factories.Network, *, managed: bool = True, **changes: Any) -> Profile:
    version = get_profile(network.group).version
    return change_profile(group=network.group, version=version, managed=managed, by=network.admin, **VALUES | changes)


def compile_profile(network: factories.Network) -> firewall.Profile | None:
    return policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway.settings.profile


@pytest.mark.parametrize(
    ("given", "constraint"),
    [
        ({"connections": 4095}, "profile_limits"),
        ({"tcp_established": 10}, "profile_limits"),
        ({"last_port": 70_000}, "profile_limits"),
        ({"buckets": 8193}, "profile_buckets"),
        ({"connections": 1 << 20, "buckets": 65_536}, "profile_buckets"),
        ({"first_port": 60_000}, "profile_ports"),
    ],
)
def test_the_database_refuses_what_cannot_be(network: factories.Network, given: dict[str, Any], constraint: str) -> None:
    Profile.objects.create(group=network.group)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Profile.objects.update(**given)


def test_without_a_profile_kernels_are_left_as_they_are(network: factories.Network) -> None:
    assert compile_profile(network) is None
    tune_group(network, udp=60)
    assert compile_profile(network) == firewall.Profile(udp=60)
    tune_group(network, udp=60, managed=False)
    assert compile_profile(network) is None


def test_a_change_is_a_rollout_that_says_so_in_words_and_can_be_gone_back_from(served_network: factories.Network) -> None:
    assert reconcile(served_network.group)
    tune_group(served_network)
    first = reconcile(served_network.group)
    assert first and first.state == Rollout.State.CONFIRMED
    assert "14 kernel settings changed" in render_summary(parse_summary_lines(first.revision.changes))
    assert f"# {ESTABLISHED} = 7440" in first.revision.delta
    tune_group(served_network, tcp_established=3600)
    second = reconcile(served_network.group)
    assert second and "1 kernel setting changed" in render_summary(parse_summary_lines(second.revision.changes))
    compared = ruleset_comparison.compare_revisions(first.revision, second.revision, 0)
    [(title, _note, lines)] = compared.shown.groups
    assert title == "kernel settings"
    assert [line[:2] for line in lines] == [("\u2212", f"{ESTABLISHED} = 7440"), ("+", f"{ESTABLISHED} = 3600")]
    assert read_kept(served_network) == "3600"
    roll_back(first.revision, why="calls break", by=served_network.admin)
    assert reconcile(served_network.group)
    assert read_kept(served_network) == "7440" and Profile.objects.get().tcp_established == 3600
    release_revision_hold(served_network.group, by=served_network.admin)
    reconcile(served_network.group)
    assert read_kept(served_network) == "3600"
    tune_group(served_network, managed=False)
    assert reconcile(served_network.group)
    assert read_kept(served_network) == "432000"
    assert reconcile(served_network.group, cause="schedule") is None


def test_a_process_that_knows_nothing_of_the_gateways_says_the_same(
    served_network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reconcile(served_network.group)
    tune_group(served_network)
    out = StringIO()
    call_command("plan", stdout=out)
    assert out.getvalue().count("14 kernel settings changed") == 2 and f"# {ESTABLISHED} = 7440" in out.getvalue()
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    rollout = reconcile(served_network.group)
    assert rollout and "14 kernel settings changed" in render_summary(parse_summary_lines(rollout.revision.changes))


def read_kept(network: factories.Network) -> str:
    """Return both kernels' timeout of established TCP connections, as the collector reads it."""
    assert all(map(collect_counters, network.gateways))
    states = GatewayState.objects.filter(gateway__in=network.gateways)
    [value] = {state.kernel["held"][ESTABLISHED] for state in states if state.kernel}
    return str(value)


def test_a_second_writer_gets_a_conflict(network: factories.Network) -> None:
    tune_group(network)
    with pytest.raises(Conflict):
        change_profile(group=network.group, version=0, managed=True, by=network.admin, **VALUES)
    with pytest.raises(Conflict):
        change_profile(group=network.group, version=7, managed=True, by=network.admin, **VALUES)


def test_the_page_saves_says_since_when_and_warns_of_what_is_allowed_but_unwise(staff: Client, network: factories.Network) -> None:
    page = text(staff.get(path(network)))
    assert "so all of this is off" in page and 'value="524288"' in page
    page = text(staff.post(path(network), FORM | {"connections": 1_000_000}, follow=True))
    assert "Saved." in page and "Mara Lindqvist" in page and "not yet as shown" in page
    assert "up to 2 connections share a bucket" in page
    Pool.objects.filter(kind=Pool.Kind.PUBLIC4).update(sharing=Pool.Sharing.BLOCKS, block_size=1024)
    assert "have blocks with the ports 32768 to 60999" in text(staff.get(path(network)))
    row = Profile.objects.get()
    assert (row.connections, row.tcp_loose, row.managed) == (1_000_000, False, True)


@pytest.mark.parametrize(
    ("given", "name", "says"),
    [
        ({"connections": 17_000_000}, "connections", ""),
        ({"tcp_established": 60}, "tcp_established", ""),
        ({"buckets": 8_200}, "buckets", "A multiple of 8,192, and for so many connections at least 65,536"),
        ({"buckets": 16_384}, "buckets", "at least 65,536"),
        ({"first_port": 60_000}, "last_port", "At least 1,024 ports"),
        ({"udp": "x"}, "udp", ""),
    ],
)
def test_an_invalid_setting_is_reported_at_its_field(
    staff: Client, network: factories.Network, given: dict[str, Any], name: str, says: str
) -> None:
    response = staff.post(path(network), FORM | given)
    assert response.status_code == 422 and f'id="id_{name}_error"' in text(response) and says in text(response)
    assert not Profile.objects.exists()


def test_a_stale_save_shows_what_was_saved_meanwhile(staff: Client, network: factories.Network) -> None:
    staff.post(path(network), FORM)
    page = text(staff.post(path(network), FORM | {"udp": 60}))
    assert "Saved meanwhile" in page and "Save mine" in page
    assert "Saved." in text(staff.post(path(network), FORM | {"udp": 60, "version": 1}, follow=True))


def test_only_staff_changes_it(network: factories.Network) -> None:
    assert signed_in(factories.user("guest", staff=False)).post(path(network), FORM).status_code == 403


def record_gauges(network: factories.Network, tracked: int, held: dict[str, str], untuned: dict[str, str]) -> None:
    gateway = network.gateways[0]
    GatewayState.objects.get_or_create(gateway=gateway, defaults={"seen": timezone.now()})
    kernel_gauges.store_kernel_gauges(gateway=gateway, answer=wire.GaugesAre({}, tracked, held, untuned), at=timezone.now())


def test_pages_say_what_a_kernel_holds_what_it_refuses_and_when_its_table_is_nearly_full(staff: Client, network: factories.Network) -> None:
    mine = f"/gateways/{network.gateways[0].pk}/"
    tune_group(network)
    assert "as reported by its kernel" not in text(staff.get(mine))
    GatewayState.objects.create(gateway=network.gateways[0], seen=timezone.now())
    few = queries(staff, mine)
    held = build_sysctls(firewall.Profile()) | {
        kernel_gauges.CONNTRACK_MAX: "262144",
        kernel_gauges.CONNTRACK_BUCKETS: "65536",
        ESTABLISHED: "60",
    }
    record_gauges(network, 220_000, held, {kernel_gauges.CONNTRACK_MAX: "EACCES", kernel_gauges.CONNTRACK_BUCKETS: "EINVAL"})
    page = text(staff.get(mine))
    assert "83 %, nearly full" in page and "The connection table of nat-1 is 83 % full." in page
    assert "fewer than connections" in page
    assert "This gateway is a network namespace" in page and "The kernel refuses it (EINVAL)." in page
    assert f"<code>{ESTABLISHED}</code>" in page and "Not set yet, or changed by hand since." in page
    assert queries(staff, mine) == few
    assert "Deviations on nat-1" in text(staff.get(path(network)))
    record_gauges(network, 1_000, build_sysctls(firewall.Profile()), {})
    assert "nearly full" not in text(staff.get(mine)) and "Deviations on" not in text(staff.get(path(network)))


def test_before_a_profile_is_saved_no_kernel_is_called_wrong(staff: Client, network: factories.Network) -> None:
    record_gauges(network, 7, {"net.netfilter.nf_conntrack_max": "262144"}, {})
    page = staff.get(path(network)).content.decode()
    assert "262,144" in page
    assert "Deviations on" not in page


def test_what_was_set_by_hand_is_shown_with_name_wanted_and_found(staff: Client, network: factories.Network) -> None:
    told = drift.render_drift(wire.Drifted("", (), {}, (SysctlDifference(ESTABLISHED, "7440", "60"),)), EMPTY, 0)
    GatewayState.objects.create(gateway=network.gateways[0], seen=timezone.now(), drift=told, drift_since=timezone.now())
    page = text(staff.get(f"/gateways/{network.gateways[0].pk}/"))
    assert "kernel setting differs" in page
    assert f"{ESTABLISHED} = 60" in page and f"{ESTABLISHED} = 7440" in page


def test_a_script_reads_and_changes_it(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    where = f"/api/gateways/profile/{network.group.pk}/"
    assert (api.get(where).json()["version"], api.get(where).json()["buckets"]) == (0, 524_288)
    answer = api.patch(where, {"version": 0, "udp": 60}, content_type="application/json")
    assert answer.status_code == 200, answer.json()
    assert (answer.json()["udp"], answer.json()["version"], answer.json()["managed"]) == (60, 1, True)
    assert api.patch(where, {"version": 0, "udp": 70}, content_type="application/json").status_code == 409
    bad = api.patch(where, {"version": 1, "buckets": 8193}, content_type="application/json")
    assert bad.status_code == 400 and "buckets" in wrong(bad)
    record_gauges(network, 5, {kernel_gauges.CONNTRACK_MAX: "100"}, {})
    [kernel] = api.get(where).json()["kernels"]
    assert (kernel["tracked"], kernel["most"]) == (5, 100)
    assert {
        "name": kernel_gauges.CONNTRACK_BUCKETS,
        "wanted": "524288",
        "found": "nothing",
        "why": "Not set yet, or changed by hand since.",
    } in kernel["others"]


def test_a_change_is_in_the_history_with_its_author(staff: Client, network: factories.Network) -> None:
    staff.post(path(network), FORM)
    staff.post(path(network), FORM | {"version": 1, "udp_stream": 120})
    page = text(staff.get(path(network)))
    assert "Mara Lindqvist" in page and "120" in page
