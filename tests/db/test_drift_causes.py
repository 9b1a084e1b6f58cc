"""Causes of drift: what the gateway's agent reports, how the page words it, and what is kept when it is over."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from apps.bans import services as bans
from apps.deployments.models import GatewayState
from apps.deployments.observed_state import drift
from apps.deployments.services import reconcile
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.db.agents import end_started, same_everywhere, steps, stop_agent, unwritable
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> Iterator[factories.Network]:
    """Two gateways in memory that run the desired state. Their rulesets differ."""
    Gateway.objects.filter(pk=served_network.gateways[1].pk).update(lan="bond0")
    reconcile(served_network.group)
    yield served_network
    end_started()


def cut_short(state: Path) -> None:
    confirmed = (state / "confirmed").read_bytes()
    (state / "confirmed").write_bytes(confirmed[:-1])


def empty_state(state: Path) -> None:
    shutil.rmtree(state)


def copy_state(state: Path) -> None:
    """Copy the state files of the other gateway."""
    for name in ("confirmed", "journal"):
        source, target = state.parent / "nat-1" / name, state / name
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)


CAUSES = {
    "damaged": (
        cut_short,
        "nat-2 could not restore the ruleset that it had confirmed",
        "confirmed: the last confirmed ruleset cannot be read",
    ),
    "empty": (empty_state, "nat-2 has no record of a confirmed ruleset", "Its state directory is empty"),
    "anothers": (copy_state, "nat-2 runs the ruleset of another gateway", "Its state files may have been copied from that one"),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_is_named_put_right_and_remembered(network: factories.Network, cause: str) -> None:
    spoil, sentence, meaning = CAUSES[cause]
    second, page = network.gateways[1], signed_in(network.admin)
    GatewayGroup.objects.update(heals_drift=False)  # not changed by hand, so no approval is needed
    with stop_agent(second) as state:
        spoil(state)
    with unwritable(second):  # so that the drift is seen before it is healed
        assert reconcile(network.group, cause="schedule") is not None
        shown = text(page.get(f"/gateways/{second.pk}/"))
        assert sentence in shown and meaning in shown
        assert sentence in text(page.get("/"))
    assert GatewayState.objects.filter(gateway=second, drift__cause=cause).exists()
    assert steps(reconcile(network.group, cause="schedule", force=True))["nat-2"] == "confirmed"
    assert same_everywhere(network)
    status = GatewayState.objects.get(gateway=second)
    assert status.drift is None and [past["cause"] for past in status.drifted_before] == [cause]
    shown = text(page.get(f"/gateways/{second.pk}/"))
    assert sentence not in shown and "Put right earlier" in shown


@pytest.mark.parametrize("cause", ["damaged", "empty"])
def test_the_cause_is_remembered_though_something_was_changed_meanwhile(network: factories.Network, cause: str) -> None:
    """The desired state changes while the gateway is away, so a rollout is due anyway."""
    spoil, sentence, _meaning = CAUSES[cause]
    second = network.gateways[1]
    with stop_agent(second) as state:
        spoil(state)
        bans.ban_prefix(list=bans.create_list(name="Our own", by=network.admin), prefix="192.0.2.66", comment="scans", author=network.admin)
        assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "away"}
    assert steps(reconcile(network.group, cause="schedule"))["nat-2"] == "confirmed"
    assert same_everywhere(network)
    status = GatewayState.objects.get(gateway=second)
    assert status.drift is None and [past["cause"] for past in status.drifted_before] == [cause]
    shown = text(signed_in(network.admin).get(f"/gateways/{second.pk}/"))
    assert sentence not in shown and "Put right earlier" in shown


def test_what_is_not_put_right_by_itself_does_not_promise_to_be(network: factories.Network) -> None:
    second, page = network.gateways[1], signed_in(network.admin)
    with stop_agent(second) as state:
        empty_state(state)
    with unwritable(second):
        reconcile(network.group, cause="schedule")
        reconcile(network.group, cause="schedule")
        shown = text(page.get(f"/gateways/{second.pk}/"))
    assert "puts it right automatically" not in shown
    assert "It will be put right as soon as this is fixed:" in shown and "token cannot be written: File too large" in shown


def test_only_so_much_of_the_past_is_kept(network: factories.Network) -> None:
    state = GatewayState.objects.get(gateway=network.gateways[1])
    state.drift = {"cause": "by_hand", "rules": ["chain forward"], "elements": {}, "sysctls": []}
    for _time in range(2 * drift.REMEMBERED):
        state.drifted_before = drift.build_drift_history(state, timezone.now())
    assert len(state.drifted_before) == drift.REMEMBERED
