"""Upgrades of a group's agents: standby first, confirmed one by one, stopped by the first failure, and resumed by any worker."""

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.bans import services as bans
from apps.deployments import services
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.restored_database import restore_hold
from apps.deployments.restored_database.models import DatabaseRestore
from apps.deployments.rollouts import gateway_order
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.transport import agent_channel
from apps.gateways.agent_package.debian_package import AgentPackage, build_agent_package, build_package
from apps.gateways.agent_upgrade import driving, requesting, run_store
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.agent_upgrade.outcome_texts import UpgradeProblem, describe_problem, describe_step
from apps.gateways.agent_upgrade.requesting import request_upgrade, stop_upgrade
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway
from firewall.wire import VERSION
from tests import factories
from tests.agent.launched import CRASHES, PACKAGED, SOURCES, LaunchedGateway, digest_of
from tests.db.agents import end_started, stop_agent
from tests.db.page_client import confirm, signed_in, text
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
State, Run = AgentUpgradeStep.State, AgentUpgrade.State
Launched = dict[str, LaunchedGateway]
LATER = build_package(SOURCES | {"gateway/brought_by_a_test.py": b'"""Nothing."""\n'})


def offer(monkeypatch: pytest.MonkeyPatch, package: AgentPackage) -> None:
    """Let the portal offer this package, as one of another release does."""
    for module in (driving, requesting):
        monkeypatch.setattr(module, "build_agent_package", lambda: package)


@pytest.fixture
def agents(
    transactional_db: None, network: factories.Network, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Launched]:
    """Yield the gateways of the network, with launchers and their first ruleset; the portal offers a later program."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE deployments_token RESTART")
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    offer(monkeypatch, LATER)
    with TemporaryDirectory(prefix="nw-") as directory, ExitStack() as stack:
        settings.GATEWAY_SOCKETS = Path(directory)
        found = {each.name: _launch(Path(directory), each.name) for each in network.gateways}
        for each in found.values():
            stack.callback(each.close)
        assert services.reconcile(network.group)
        yield found
        agent_channel.close_all_channels()


def _launch(directory: Path, name: str) -> LaunchedGateway:
    home = directory / name
    home.mkdir()
    return LaunchedGateway(home, name=name, socket=directory / f"{name}.sock")


def get_states(run: AgentUpgrade) -> dict[str, str]:
    return dict(run.steps.values_list("gateway__name", "state"))


def advance_until(run: AgentUpgrade, condition: Callable[[], bool]) -> None:
    """Let workers look at the upgrade again and again."""

    def is_so() -> bool:
        driving.advance_all()
        run.refresh_from_db()
        return condition()

    wait_for(is_so)


def finish(run: AgentUpgrade) -> dict[str, str]:
    """Return the states of the steps when the upgrade is over."""
    advance_until(run, lambda: run.state != Run.RUNNING)
    return get_states(run)


def test_both_gateways_get_the_program_and_pages_know_it_at_once(network: factories.Network, agents: Launched) -> None:
    run = request_upgrade(group=network.group, by=network.admin)
    assert finish(run) == {"nat-1": State.CONFIRMED, "nat-2": State.CONFIRMED}
    assert run.state == Run.DONE
    for gateway in agents.values():
        assert (gateway.read().runs, gateway.read().trial) == (LATER.program_digest, "")
    assert set(GatewayState.objects.values_list("agent", flat=True)) == {LATER.version}
    with pytest.raises(Problem, match="All agents of Lindenhof are of this portal’s release"):
        request_upgrade(group=network.group)


def test_the_gateway_that_carries_less_is_first_and_the_other_waits_for_its_confirmation(
    network: factories.Network, agents: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = network.gateways[1], network.gateways[0]
    monkeypatch.setattr(gateway_order, "_lookups", [lambda _group: {first.pk: 0, second.pk: 2}])
    run = request_upgrade(group=network.group)
    advance_until(run, lambda: get_states(run)[first.name] == State.TRIAL)
    assert get_states(run)[second.name] == State.WAITING
    assert agents[second.name].read().runs == digest_of(PACKAGED)
    finish(run)
    times = dict(run.steps.values_list("gateway__name", "since"))
    assert times[first.name] < times[second.name]


def test_a_program_that_crashes_stops_the_upgrade_and_the_other_gateway_keeps_its_own(
    network: factories.Network, agents: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, AgentPackage("0.1.0+crashes", b"", "", CRASHES, digest_of(CRASHES), LATER.parts))
    run = request_upgrade(group=network.group)
    states = finish(run)
    assert sorted(states.values()) == [State.SKIPPED, State.WENT_BACK]
    step = run.steps.get(state=State.WENT_BACK)
    assert "it ended with status 3 before it was confirmed" in describe_problem(step)
    assert {each.read().runs for each in agents.values()} == {digest_of(PACKAGED)}
    assert run.state == Run.STOPPED


def test_a_gateway_that_is_worse_with_the_program_goes_back(
    network: factories.Network, agents: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "find_deterioration", lambda *_: "packets do not pass")
    run = request_upgrade(group=network.group)
    finish(run)
    step = run.steps.get(state=State.WENT_BACK)
    assert (step.problem, step.reason) == (UpgradeProblem.UNHEALTHY, "packets do not pass")
    gateway = agents[step.gateway.name]
    gateway.await_line("the portal took it back")
    gateway.await_line("listening at")
    assert gateway.read().runs == digest_of(PACKAGED)


@pytest.mark.parametrize("state", [State.SENDING, State.TRIAL, State.CONFIRMED])
def test_another_worker_goes_on_after_one_was_killed_before_it_stored(
    network: factories.Network, agents: Launched, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    run = request_upgrade(group=network.group)
    real = run_store.set_state

    def die(at: AgentUpgrade, step: AgentUpgradeStep, wanted: AgentUpgradeStep.State, **values: object) -> None:
        if wanted == state:
            monkeypatch.setattr(run_store, "set_state", real)
            raise SystemExit(9)
        real(at, step, wanted, **values)

    monkeypatch.setattr(run_store, "set_state", die)
    with pytest.raises(SystemExit):
        finish(run)
    assert set(finish(run).values()) == {State.CONFIRMED}


def test_another_worker_goes_on_after_one_was_killed_before_the_trial_was_asked_for(
    network: factories.Network, agents: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, real = request_upgrade(group=network.group), driving.get_trial_seconds

    def die(_run: AgentUpgrade) -> int:
        monkeypatch.setattr(driving, "get_trial_seconds", real)
        raise SystemExit(9)

    monkeypatch.setattr(driving, "get_trial_seconds", die)
    with pytest.raises(SystemExit):
        finish(run)
    assert State.TRIAL in get_states(run).values()
    assert set(finish(run).values()) == {State.CONFIRMED}


def test_a_power_cut_during_the_trial_stops_the_upgrade_with_the_reason(network: factories.Network, agents: Launched) -> None:
    run = request_upgrade(group=network.group)
    advance_until(run, lambda: State.TRIAL in get_states(run).values())
    gateway = agents[run.steps.get(state=State.TRIAL).gateway.name]
    gateway.await_line("listening at")
    gateway.kill()
    finish(run)
    step = run.steps.get(state=State.WENT_BACK)
    assert "it ended before it was confirmed" in describe_step(step)


def test_where_it_is_not_allowed_nothing_is_done_and_the_sentence_says_how(network: factories.Network, agents: Launched) -> None:
    for each in agents.values():
        each.allowed_by.unlink()
    run = request_upgrade(group=network.group)
    assert sorted(finish(run).values()) == [State.REFUSED, State.SKIPPED]
    assert "netzwart-join --allow-upgrades" in describe_problem(run.steps.get(state=State.REFUSED))


def test_an_agent_without_launcher_needs_the_package_once(served_network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    services.reconcile(served_network.group)
    offer(monkeypatch, LATER)
    run = request_upgrade(group=served_network.group)
    finish(run)
    assert "install the package of the portal's release once" in describe_problem(run.steps.get(state=State.REFUSED))


def test_an_agent_of_the_last_release_needs_the_package_once(served_network: factories.Network, released_sources: Path) -> None:
    for each in served_network.gateways:
        with stop_agent(each, released_sources):
            pass
    run = request_upgrade(group=served_network.group)
    finish(run)
    end_started()
    step = run.steps.get(state=State.REFUSED)
    assert step.problem == UpgradeProblem.OLDER
    assert "Install the package there once" in describe_problem(step)


def test_a_gateway_that_goes_out_of_service_is_left_out(network: factories.Network, agents: Launched) -> None:
    run, retired = request_upgrade(group=network.group), network.gateways[1]
    Gateway.objects.filter(pk=retired.pk).update(retired=timezone.now(), carries4=False, carries6=False)
    assert finish(run) == {"nat-1": State.CONFIRMED, "nat-2": State.SKIPPED}
    assert run.state == Run.DONE


def test_a_gateway_that_does_not_answer_stops_it(network: factories.Network, agents: Launched) -> None:
    for each in agents.values():
        each.close()
    run = request_upgrade(group=network.group)
    finish(run)
    assert run.steps.get(state=State.REFUSED).problem == UpgradeProblem.AWAY


def test_one_upgrade_of_a_group_at_a_time(network: factories.Network) -> None:
    request_upgrade(group=network.group)
    with pytest.raises(Conflict, match="The agents of Lindenhof are being upgraded already"):
        request_upgrade(group=network.group)


def test_nothing_is_sent_while_a_restored_database_waits_for_a_person(network: factories.Network, agents: Launched) -> None:
    run = request_upgrade(group=network.group)
    restore = DatabaseRestore.objects.create(backup_made=timezone.now())
    driving.advance_all()
    assert set(get_states(run).values()) == {State.WAITING}
    with pytest.raises(CommandError, match="The database was restored from a backup"):
        call_command("agent", "upgrade")
    AgentUpgrade.objects.update(state=Run.STOPPED, ended=timezone.now())
    with pytest.raises(Problem, match="The database was restored from a backup"):
        request_upgrade(group=network.group)
    restore_hold.agree(restore, by=network.admin, seen=None)
    assert request_upgrade(group=network.group).state == Run.RUNNING


def test_it_waits_for_a_rollout_and_a_new_rollout_waits_for_a_trial(network: factories.Network, agents: Launched) -> None:
    over = Rollout.objects.get()
    Rollout.objects.update(state=Rollout.State.PAUSED)
    run = request_upgrade(group=network.group)
    driving.advance_all()
    assert set(get_states(run).values()) == {State.WAITING}
    Rollout.objects.update(state=Rollout.State.CONFIRMED)
    advance_until(run, lambda: State.TRIAL in get_states(run).values())
    bans.ban_prefix(list=bans.create_list(name="Own", by=network.admin), prefix="203.0.113.7", author=network.admin)
    assert services.reconcile(network.group) is None
    finish(run)
    new = services.reconcile(network.group)
    assert new is not None and new.pk > over.pk and new.state == Rollout.State.CONFIRMED


def test_a_rollout_does_not_wait_for_a_trial_that_takes_long(network: factories.Network) -> None:
    run = request_upgrade(group=network.group)
    step = run.steps.all()[0]
    AgentUpgradeStep.objects.filter(pk=step.pk).update(state=State.TRIAL)
    assert run_store.blocks_rollouts(network.group)
    AgentUpgradeStep.objects.filter(pk=step.pk).update(since=step.since - run_store.KEPT_WAITING)
    assert not run_store.blocks_rollouts(network.group)


def test_a_worker_without_the_lease_writes_nothing(network: factories.Network) -> None:
    made = request_upgrade(group=network.group)
    run = run_store.claim_upgrade(made.pk)
    assert run is not None
    assert run_store.claim_upgrade(made.pk) is None
    run_store.release_lease(run)
    assert run_store.claim_upgrade(made.pk) is not None
    with pytest.raises(run_store.UpgradeLeaseLost):
        run_store.end_step(run, run.steps.all()[0], State.CONFIRMED)
    assert set(get_states(made).values()) == {State.WAITING}


def test_it_can_be_stopped_before_a_gateway_begins(network: factories.Network) -> None:
    run = request_upgrade(group=network.group)
    AgentUpgradeStep.objects.filter(pk=run.steps.all()[0].pk).update(state=State.TRIAL)
    assert not stop_upgrade(run)
    AgentUpgradeStep.objects.update(state=State.WAITING)
    assert stop_upgrade(run)
    assert set(finish(run).values()) == {State.SKIPPED}


def test_a_portal_of_another_release_does_not_go_on_with_it(
    network: factories.Network, agents: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = request_upgrade(group=network.group)
    offer(monkeypatch, build_agent_package())
    finish(run)
    assert run.steps.get(state=State.REFUSED).problem == UpgradeProblem.CHANGED


def test_the_database_refuses_a_failure_without_a_reason(network: factories.Network) -> None:
    run = request_upgrade(group=network.group)
    with pytest.raises(IntegrityError, match="agentupgradestep_problem_if_it_failed"):
        run.steps.update(state=State.WENT_BACK)


def test_the_command_upgrades_and_says_what_it_did(network: factories.Network, agents: Launched) -> None:
    said = io.StringIO()
    call_command("agent", "upgrade", stdout=said)
    assert "nat-1 runs the new program." in said.getvalue()
    assert "nat-2 needs the package: its units" in said.getvalue()
    status = io.StringIO()
    call_command("agent", "status", stdout=status)
    assert f"nat-2: {LATER.version}" in status.getvalue()
    with pytest.raises(CommandError, match="There is nothing to stop now"):
        call_command("agent", "stop", "Lindenhof", stdout=said)


@pytest.mark.parametrize("problem", UpgradeProblem)
def test_every_problem_has_a_sentence(network: factories.Network, problem: UpgradeProblem) -> None:
    step = AgentUpgradeStep(gateway=network.gateways[0], state=State.REFUSED, problem=problem, reason="no room on the disk")
    assert describe_step(step).startswith(("nat-1", "The", "With"))
    assert describe_step(step).endswith(".")


PAGE = "/gateways/groups/{}/agents/"


def test_a_press_upgrades_and_the_page_shows_how_far_it_is(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    mara, page = signed_in(network.admin), PAGE.format(network.group.pk)
    confirm(mara, network.admin)
    GatewayState.objects.create(gateway=network.gateways[0], agent="0.1.0+11111111")
    GatewayState.objects.create(gateway=network.gateways[1], agent=build_agent_package().version)
    shown = text(mara.get(page))
    assert "nat-1 has another agent than this portal’s." in shown
    assert "Upgrade the agents of Lindenhof?" in text(mara.get(f"{page}upgrade/"))
    assert mara.post(f"{page}upgrade/").url == page  # type: ignore[attr-defined]  # a redirect
    run = AgentUpgrade.objects.get()
    assert (run.by, run.agent) == (network.admin, build_agent_package().version)
    AgentUpgradeStep.objects.filter(gateway=network.gateways[1]).update(state=State.TRIAL, needs_package=True)
    shown = text(mara.get(page, headers={"HX-Target": "agents"}))
    assert "nat-2 tries the program." in shown and "nat-2 needs the package" in shown and "nat-1 waits for its turn" in shown
    assert "There is nothing to stop now." in text(mara.post(f"{page}stop/", follow=True))
    AgentUpgradeStep.objects.update(state=State.WAITING)
    assert "Stopped. The other gateways keep their programs." in text(mara.post(f"{page}stop/", follow=True))


def test_the_press_needs_a_recent_sign_in_and_the_right_to_operate(network: factories.Network) -> None:
    page = f"{PAGE.format(network.group.pk)}upgrade/"
    mara = signed_in(network.admin)
    confirm(mara, network.admin, seconds_ago=10_000)
    assert "reauthenticate" in mara.post(page).url  # type: ignore[attr-defined]  # a redirect
    auditor = signed_in(factories.user("ada", roles=["auditor"]))
    assert auditor.post(page).status_code == 403
    assert "Upgrade agents" not in text(auditor.get(PAGE.format(network.group.pk)))
    assert not AgentUpgrade.objects.exists()


def test_gateways_and_dashboard_lead_to_the_page(network: factories.Network) -> None:
    for each in network.gateways:
        GatewayState.objects.create(gateway=each, agent="0.1.0+11111111", protocol=VERSION - 1, seen=timezone.now())
    mara, page = signed_in(network.admin), PAGE.format(network.group.pk)
    assert page in text(mara.get("/gateways/"))
    assert page in text(mara.get("/"))


def test_a_script_upgrades_and_reads_how_it_goes(network: factories.Network) -> None:
    key = tokens.create_token(user=network.admin, name="script")[1]
    api, at = Client(headers={"authorization": f"Bearer {key}"}), f"/api/gateways/groups/{network.group.pk}/agents/"
    assert api.get(at).json()["upgrade"] is None
    made = api.post(f"{at}upgrade/").json()["upgrade"]
    assert (made["state"], made["agent"]) == ("running", build_agent_package().version)
    assert [each["gateway"] for each in made["steps"]] == [each.pk for each in gateway_order.list_in_rollout_order(network.group)]
    assert api.post(f"{at}upgrade/").status_code == 409
    assert api.get(at).json()["upgrade"] == made
