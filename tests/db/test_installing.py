"""Installing a gateway's failover files by one press: what is in the way, and how a person, a script and a command ask for it."""

import io
from ipaddress import ip_address
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts import tokens
from apps.gateways.roles.install_plan import plan_file_install
from apps.gateways.roles.models import FailoverStatus, RoleSwitch
from apps.gateways.roles.outcomes import InstallStep, describe_step
from apps.gateways.roles.switching import request_switch
from apps.lib.errors import Conflict, Problem
from apps.network.models import Failover
from firewall.roles import FailoverRole
from tests import factories
from tests.db.page_client import signed_in, text
from tests.role_reports import report_both, set_up_failover

pytestmark = pytest.mark.django_db(transaction=True)
Kind, State = RoleSwitch.Kind, RoleSwitch.State


@pytest.fixture(autouse=True)
def _failover(network: factories.Network) -> None:
    for number, gateway in enumerate(network.gateways, 1):
        gateway.sync_address = ip_address(f"172.31.255.{number}")
        gateway.save()
    set_up_failover(network)


def test_a_gateway_that_never_told_its_roles_may_install(network: factories.Network) -> None:
    plan = plan_file_install(network.gateways[0])
    assert (plan.families, plan.carried, plan.alone, plan.obstacle) == ((4,), (), "", None)


def test_a_standby_installs_and_its_carrier_hands_over_first(network: factories.Network) -> None:
    report_both(network)
    assert plan_file_install(network.gateways[1]).obstacle is None
    words = r"^nat-1 carries IPv4, and nat-2 is ready to take over\. Switch over first: then members notice nothing\.$"
    with pytest.raises(Problem, match=words):
        request_switch(gateway=network.gateways[0], kind=Kind.INSTALL)


def test_a_carrier_without_a_ready_standby_installs_and_says_that_members_notice_it(network: factories.Network) -> None:
    report_both(network, other={"role": FailoverRole.FAULT})
    plan = plan_file_install(network.gateways[0])
    assert (plan.carried, plan.alone, plan.obstacle) == ((4,), "nat-2 is not a standby for IPv4: not ready.", None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: Failover.objects.all().delete(), "Failover is not set for Lindenhof"),
        (lambda gateway: type(gateway).objects.update(sync_address=None), "nat-1 has no address on its state sync interface"),
    ],
)
def test_values_without_files_are_not_installed(network: factories.Network, change: Any, words: str) -> None:
    change(network.gateways[0])
    network.gateways[0].refresh_from_db()
    with pytest.raises(Problem, match=words):
        request_switch(gateway=network.gateways[0], kind=Kind.INSTALL)
    assert not RoleSwitch.objects.exists()


def test_nothing_is_installed_while_a_switch_is_under_way(network: factories.Network) -> None:
    report_both(network)
    request_switch(gateway=network.gateways[0], kind=Kind.SWITCH)
    with pytest.raises(Conflict, match=r"A switch or an installation of Lindenhof is under way\."):
        request_switch(gateway=network.gateways[1], kind=Kind.INSTALL)


def test_a_press_requests_it_and_the_page_shows_how_far_it_got(network: factories.Network) -> None:
    report_both(network)
    mara, page = signed_in(network.admin), f"/gateways/groups/{network.group.pk}/failover/"
    dialog = f"/gateways/{network.gateways[1].pk}/failover/install/"
    assert dialog in text(mara.get(page)), "it runs other files"
    assert "Install the files of failover on nat-2?" in text(mara.get(dialog))
    assert mara.post(dialog).url == page  # type: ignore[attr-defined]  # a redirect
    row = RoleSwitch.objects.get()
    assert (row.kind, row.gateway, row.families, row.by) == (Kind.INSTALL, network.gateways[1], [4], network.admin)
    RoleSwitch.objects.update(state=State.RUNNING, details={"step": InstallStep.TRIAL.value})
    shown = text(mara.get(page, headers={"HX-Target": "roles"}))
    assert "The files are on trial: the portal looks who carries what." in shown
    assert dialog not in shown


def test_the_dialog_of_a_carrier_leads_to_the_switch(network: factories.Network) -> None:
    report_both(network)
    nat_1, mara = network.gateways[0], signed_in(network.admin)
    shown = text(mara.get(f"/gateways/{nat_1.pk}/failover/install/"))
    assert "nat-1 cannot install its files now" in shown
    assert f"/gateways/{nat_1.pk}/switch/switch/" in shown
    assert "Switch over first" in text(mara.post(f"/gateways/{nat_1.pk}/failover/install/", follow=True))
    assert mara.get(f"/gateways/{nat_1.pk}/switch/install/").status_code == 404
    assert not RoleSwitch.objects.exists()


def test_who_only_looks_does_not_install(network: factories.Network) -> None:
    auditor = signed_in(factories.user("ada", roles=["auditor"]))
    assert auditor.post(f"/gateways/{network.gateways[1].pk}/failover/install/").status_code == 403


def test_a_script_requests_it_and_reads_how_it_ended(network: factories.Network) -> None:
    report_both(network)
    key = tokens.create_token(user=network.admin, name="script")[1]
    api, at = Client(headers={"authorization": f"Bearer {key}"}), f"/api/gateways/gateways/{network.gateways[1].pk}/"
    answer = api.post(f"{at}failover-files/install/")
    assert (answer.status_code, answer.json()["kind"], answer.json()["state"]) == (200, "install", "waiting")
    assert api.get(f"{at}switch/").json()["kind"] == "install"
    assert api.post(f"{at}failover-files/install/").status_code == 409
    refused = api.post(f"/api/gateways/gateways/{network.gateways[0].pk}/failover-files/install/")
    assert (refused.status_code, "Switch over first" in refused.content.decode()) == (400, True)
    assert api.post(f"{at}switch/", {"kind": "install"}, "application/json").status_code == 400


def test_the_command_says_how_it_ended(network: factories.Network) -> None:
    with pytest.raises(CommandError, match=r"^Nothing was done\. .*is the agent running\?$"):
        call_command("gateway", "failover-files", "nat-2", "--install", stdout=io.StringIO())
    assert RoleSwitch.objects.get().state == State.FAILED


@pytest.mark.parametrize("step", InstallStep)
def test_every_step_has_a_sentence(network: factories.Network, step: InstallStep) -> None:
    row = RoleSwitch(gateway=network.gateways[0], kind=Kind.INSTALL, state=State.RUNNING, details={"step": step.value})
    assert describe_step(row).endswith(".")
    row.state = State.DONE
    assert describe_step(row) == ""


def test_an_edited_file_is_installed_again(network: factories.Network) -> None:
    report_both(network, other={"edited": ("/etc/keepalived/keepalived.conf",)})
    assert FailoverStatus.objects.get(gateway=network.gateways[1]).edited
    assert "Edited by hand or missing on nat-2: keepalived.conf." in text(
        signed_in(network.admin).get(f"/gateways/groups/{network.group.pk}/failover/")
    )
