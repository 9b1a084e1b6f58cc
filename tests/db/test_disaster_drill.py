"""The disaster drill: the portal's database is lost while two gateways forward, and restored from a backup that is older than they are.

Nothing is sent to a gateway before somebody agrees, and no mail twice; then the gateways follow the database, under newer tokens.
"""

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.deployments.desired_state import desired_rulesets
from apps.deployments.models import DatabaseRestore, GatewayState, RestoreDifference, Rollout
from apps.deployments.observed_state.navigation_status import summarize_worst_group
from apps.deployments.restored_database import restore_hold
from apps.deployments.rollouts import rollback
from apps.deployments.services import reconcile, request_reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.desk.needs.collection import list_attention_items
from apps.lib.activation import list_activations
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.states import StateKind
from apps.mail.delivery import deliver_due_mails
from apps.mail.models import Message
from apps.mail.services import put_in_outbox
from apps.mail.smtp import SmtpConnection
from apps.nat.models import PortForward
from apps.nat.services import add_forward, remove_forward
from apps.network.models import Gateway
from apps.operations.backup import files
from apps.operations.backup.creation import create_backup
from apps.operations.backup.restoration import restore_backup
from firewall.wire_versions import LACKING, VERSION, Additions
from tests import factories
from tests.db.agents import end_started, same_everywhere, stop_agent
from tests.db.page_client import signed_in, text
from tests.fake_smtp import Post, post
from tests.lost_database import database_afterwards, lose_database
from workers.deploy import reconcile as reconcile_task
from workers.deploy import take_over

pytestmark = pytest.mark.django_db(transaction=True)


class AgentMemory(NamedTuple):
    """What an agent says that it runs, and the highest token that it has seen."""

    digest: str
    token: int


class Drill(NamedTuple):
    """The state after a restore: a forward that only the database has, one that only the gateways have, and what agents said before."""

    network: factories.Network
    box: Post
    before: dict[str, AgentMemory]


def ask_agents(network: factories.Network) -> dict[str, AgentMemory]:
    answers = {each.name: agent_client.send_hello(agent_channel.get_channel(each), 0) for each in network.gateways}
    return {name: AgentMemory(answer.digest, answer.token) for name, answer in answers.items()}


def forward(network: factories.Network, port: int) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def write_mail(subject: str) -> None:
    given = {"to": "selin@lindenhof.example", "language": "en", "text": "Hello\n", "sender": "portal@lindenhof.example"}
    assert put_in_outbox(Message(**given, subject=subject))


def run_workers(drill: Drill) -> None:
    """Do what all programs do within a minute, twice: tasks of the schedule, and the sending of mail."""
    for _round in range(2):
        reconcile_task()
        take_over()
        deliver_due_mails(SmtpConnection(drill.box.server))


def look(drill: Drill) -> dict[str, str]:
    """Open the page and return what its form sends."""
    page = signed_in(drill.network.admin).get(reverse("deployments:restored"))
    return {"seen": page.context["seen"]}


def press_continue(drill: Drill, form: dict[str, str] | None = None) -> str:
    """Press the button of the page, or of one that was opened before, and return the page that follows."""
    answer = signed_in(drill.network.admin).post(reverse("deployments:restored"), look(drill) if form is None else form, follow=True)
    return text(answer)


@pytest.fixture
def drill(served_network: factories.Network, settings: LazySettings, tmp_path: Path) -> Iterator[Drill]:
    """Back up, go on working, lose the database, and restore it. The agents and the mail server live on."""
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = tmp_path / "ssh" / "id", tmp_path / "ssh" / "known_hosts.d"
    files.write_private_file(tmp_path / "ssh" / "id", b"the portal's key\n")
    with post() as box, database_afterwards():
        kept = forward(served_network, 8443)
        reconcile(served_network.group)
        write_mail("waits in the backup")
        backup = create_backup(tmp_path / "backups", lambda _words: None)
        deliver_due_mails(SmtpConnection(box.server))
        factories.member("Late Larry")
        remove_forward(forward=kept, by=served_network.admin)
        for port in (9001, 9002, 9003):
            forward(served_network, port)
            reconcile(served_network.group)
        before = ask_agents(served_network)
        lose_database()
        assert ask_agents(served_network) == before
        restore_backup(backup.path, lambda _words: None)
        yield Drill(served_network, box, before)
        end_started()


def test_nothing_is_sent_to_a_gateway_and_no_mail_twice_until_somebody_agrees(drill: Drill) -> None:
    rollouts = Rollout.objects.count()
    run_workers(drill)
    assert ask_agents(drill.network) == drill.before
    assert Rollout.objects.count() == rollouts
    assert [each["Subject"] for each in drill.box.taken] == ["waits in the backup"]


def test_neither_force_nor_a_deploy_nor_a_rollback_gets_around_it(drill: Drill) -> None:
    admin, group = drill.network.admin, drill.network.group
    assert reconcile(group, force=True) is None
    with pytest.raises(CommandError, match="restored from a backup: nothing was deployed"):
        call_command("deploy")
    with pytest.raises(Problem, match="restored from a backup"):
        request_reconcile(by=admin, force=True)
    with pytest.raises(Problem, match="restored from a backup"):
        rollback.roll_back(Rollout.objects.latest("pk").revision, why="to try", by=admin)
    rollout = Rollout.objects.latest("pk")
    pages = signed_in(admin)
    for path in (reverse("deployments:again", args=[rollout.pk]), reverse("gateways:put-right", args=[drill.network.gateways[0].pk])):
        assert "Look first at what differs" in text(pages.post(path, follow=True))
    forward(drill.network, 9100)
    run_workers(drill)
    assert ask_agents(drill.network) == drill.before


def test_a_page_and_a_command_say_what_differs_on_each_gateway(drill: Drill) -> None:
    run_workers(drill)
    found = {each.gateway.name: each for each in RestoreDifference.objects.select_related("gateway")}
    assert found.keys() == {"nat-1", "nat-2"}
    [line] = [line for line in found["nat-1"].changes if line["kind"] == "forwards"]
    assert (line["added"], line["removed"]) == (1, 3)
    page = text(signed_in(drill.network.admin).get(reverse("deployments:restored")))
    assert "Nothing is sent to the gateways until somebody continues here." in page
    assert "1 forwarded port added, 3 removed" in page
    said = StringIO()
    call_command("restore", differences=True, stdout=said)
    assert "nat-2: 1 forwarded port added, 3 removed" in said.getvalue()
    assert "9002" in said.getvalue()


def test_the_page_names_the_objects_that_only_the_gateways_have(drill: Drill) -> None:
    run_workers(drill)
    pages, address = signed_in(drill.network.admin), reverse("deployments:restored")
    shown = pages.get(address).context["lacking"]
    holding = drill.network.residents["m1"].holding
    assert [each.words for each in shown.shown] == [f"port forward TCP 198.51.100.7:{port} → {holding}:443" for port in (9001, 9002, 9003)]
    assert {(each.database, each.gateways) for each in shown.shown} == {("", "")}
    page = text(pages.get(address))
    assert f"Port forward TCP 198.51.100.7:9001 → {holding}:443" in page and "3 objects" in page
    assert "lists all of them" in page and "The first" not in page
    for port in (9001, 9002, 9003):
        forward(drill.network, port)
    run_workers(drill)
    assert "The database has everything that the gateways run." in text(pages.get(address))


def test_the_page_says_which_gateway_has_what_and_of_many_objects_how_many(drill: Drill) -> None:
    run_workers(drill)
    first, second = RestoreDifference.objects.order_by("gateway__name")
    first.objects_found, first.object_count = first.objects_found[1:], 2
    first.save()
    second.object_count = 1_200
    second.save()
    page = text(signed_in(drill.network.admin).get(reverse("deployments:restored")))
    assert "1,200 objects" in page and "The first 3 are shown." in page
    assert page.count('data-label="gateways">nat-2</td>') == 1 and page.count('data-label="gateways">all</td>') == 2


def test_of_a_gateway_whose_agent_cannot_tell_its_objects_the_page_says_so(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LACKING, VERSION, Additions(classes=frozenset({"ReadElements", "ElementsAre"})))
    run_workers(drill)
    page = text(signed_in(drill.network.admin).get(reverse("deployments:restored")))
    assert "Not known of nat-1, nat-2: the agents there are of an older release and cannot tell." in page
    assert "1 forwarded port added, 3 removed" in page and "0 objects" not in page


def test_a_command_names_what_was_made_after_the_backup_and_the_request_that_brings_it_back(drill: Drill) -> None:
    said = StringIO()
    call_command("adopt", stdout=said)
    assert "Lindenhof (nat-1, nat-2): 3 objects that the database lacks" in said.getvalue()
    for port in (9001, 9002, 9003):
        assert f"port forward TCP 198.51.100.7:{port} → {drill.network.residents['m1'].holding}:443 (Resident of m1)" in said.getvalue()
        assert f'"public_port": {port}, "private_port": 443' in said.getvalue()
    assert "The other way round, nat-1 lacks 1 forwarded port" in said.getvalue()
    assert ask_agents(drill.network) == drill.before


def test_the_dashboard_tells_it_and_a_new_change_says_what_it_waits_for(drill: Drill) -> None:
    [need] = [each for each in list_attention_items(timezone.now()) if each.key in ("restored", "first-steps")]
    assert need.key == "restored"
    assert need.url == reverse("deployments:restored")
    [(_row, activations)] = list_activations([forward(drill.network, 9100)])
    assert {str(each.waits.words) for each in activations if each.waits} == {"waits until somebody agrees to the restored database"}


def test_once_agreed_the_gateways_follow_the_database_under_newer_tokens(drill: Drill) -> None:
    run_workers(drill)
    press_continue(drill)
    run_workers(drill)
    after = ask_agents(drill.network)
    wanted = desired_rulesets.compute_desired_state(drill.network.group)
    assert all(after[each.name].digest == wanted.targets[each.pk] for each in drill.network.gateways)
    assert all(after[name].token > memory.token for name, memory in drill.before.items())
    assert same_everywhere(drill.network)
    assert Rollout.objects.latest("pk").state == Rollout.State.CONFIRMED
    assert [each["Subject"] for each in drill.box.taken] == ["waits in the backup"]
    restore = DatabaseRestore.objects.get()
    assert restore.agreed_by == drill.network.admin
    with pytest.raises(Conflict):
        restore_hold.agree(restore, by=drill.network.admin, seen=None)
    forward(drill.network, 9100)
    run_workers(drill)
    assert same_everywhere(drill.network)


def test_an_agreement_is_to_the_comparison_that_the_person_saw(drill: Drill) -> None:
    run_workers(drill)
    form = look(drill)
    run_workers(drill)
    assert look(drill) == form, "a comparison that is only repeated is the same"
    forward(drill.network, 9100)
    run_workers(drill)
    page = press_continue(drill, form)
    assert "What differs has changed since you looked. Look at it again, then continue." in page
    assert "Nothing is sent to the gateways until somebody continues here." in page
    for without in ({}, {"seen": ""}):
        assert "What differs has changed since you looked." in press_continue(drill, without)
    run_workers(drill)
    assert ask_agents(drill.network) == drill.before
    assert "The gateways get what the restored database asks for." in press_continue(drill)


def test_the_command_agrees_only_to_what_it_has_shown_if_it_is_told_what_that_was(drill: Drill) -> None:
    said = StringIO()
    call_command("restore", differences=True, stdout=said)
    [code] = re.findall(r"--agree --seen ([0-9a-f]{16})$", said.getvalue(), re.MULTILINE)
    forward(drill.network, 9100)
    run_workers(drill)
    with pytest.raises(CommandError, match="has changed since you looked"):
        call_command("restore", agree=True, seen=code, stdout=StringIO())
    assert DatabaseRestore.objects.get().agreed is None
    call_command("restore", differences=True, stdout=said)
    [_old, code] = re.findall(r"--seen ([0-9a-f]{16})$", said.getvalue(), re.MULTILINE)
    call_command("restore", agree=True, seen=code, stdout=StringIO())
    assert DatabaseRestore.objects.get().agreed is not None


def test_the_agreement_holds_although_its_message_was_lost_and_by_command(drill: Drill) -> None:
    call_command("restore", agree=True, stdout=StringIO())
    with pytest.raises(CommandError, match="No restore waits"):
        call_command("restore", agree=True)
    reconcile_task()  # as the schedule calls it, without force
    assert Rollout.objects.latest("pk").state == Rollout.State.CONFIRMED
    assert same_everywhere(drill.network)


def test_a_gateway_that_is_away_is_named_and_compared_when_it_is_back(drill: Drill) -> None:
    nat_1 = Gateway.objects.get(name="nat-1")
    with stop_agent(nat_1):
        agent_channel.close_all_channels()
        run_workers(drill)
        assert RestoreDifference.objects.get(gateway=nat_1).error
        assert "could not be compared" in text(signed_in(drill.network.admin).get(reverse("deployments:restored")))
    agent_channel.close_all_channels()
    call_command("restore", differences=True, stdout=StringIO())
    assert not RestoreDifference.objects.get(gateway=nat_1).error


def test_pages_do_not_claim_what_gateways_run_before_they_were_asked_to_run_it(drill: Drill) -> None:
    assert not GatewayState.objects.exclude(digest="", revision=None).exists()
    page = text(signed_in(drill.network.admin).get(reverse("desk:dashboard")))
    assert "This portal was restored from the backup of" in page
    assert "on both gateways" not in page
    assert "what the gateways run is not known" in page
    running = summarize_worst_group(HttpRequest())
    assert running is not None
    assert (running.kind, running.words) == (StateKind.WAIT, "what the gateways run is not known")
    assert "no revision" not in page
    assert "nothing yet" not in page
    assert [each.key for each in list_attention_items(timezone.now()) if each.gateways] == []
