"""manage.py agent: upgrade the agents of a group's gateways to this portal's program, and see how far that is."""

import time
from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.utils import translation

from apps.deployments.restored_database.restore_hold import refuse_while_restored
from apps.gateways import enrolment
from apps.gateways.agent_texts import get_own_release
from apps.gateways.agent_upgrade import driving
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.agent_upgrade.outcome_texts import describe_package_need, describe_step
from apps.gateways.agent_upgrade.requesting import find_last_upgrade, request_upgrade, stop_upgrade
from apps.lib.errors import Problem
from apps.network.models import Gateway, GatewayGroup

PAUSE: Final = 0.5  # seconds between two looks at an upgrade that waits for a gateway


class Command(BaseCommand):
    help = "Agents on gateways: upgrade those of a group, one gateway after the other, or say which they have (docs/upgrade.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="upgrade | status | stop")
        for name, text in (
            (
                "upgrade",
                "let each gateway of the group try this portal's agent, and keep it if all goes on; go on with one that is under way",
            ),
            ("status", "say which agents the gateways have, and how the last upgrade went"),
            ("stop", "stop an upgrade before its next gateway"),
        ):
            what.add_parser(name, help=text).add_argument("group", nargs="?", help="name of the group (default: the only one)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with translation.override("en"):
                getattr(self, f"_{options['what']}")(_find_group(options["group"]))
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _upgrade(self, group: GatewayGroup) -> None:
        refuse_while_restored()  # also before going on with one that is under way
        last = find_last_upgrade(group)
        run = last if last and last.state == AgentUpgrade.State.RUNNING else request_upgrade(group=group)
        said = set[str]()
        while True:
            driving.advance_upgrade(run.pk)
            run.refresh_from_db()
            for step in run.steps.exclude(state=AgentUpgradeStep.State.WAITING).select_related("gateway"):
                self._say_once(said, describe_step(step), describe_package_need(step))
            if run.state != AgentUpgrade.State.RUNNING:
                break
            time.sleep(PAUSE)
        if run.state == AgentUpgrade.State.STOPPED:
            raise CommandError("The upgrade stopped. The other gateways keep their programs.")

    def _say_once(self, said: set[str], *sentences: str) -> None:
        for each in sentences:
            if each and each not in said:
                self.stdout.write(each)
                said.add(each)

    def _status(self, group: GatewayGroup) -> None:
        self.stdout.write(f"This portal's agent: {get_own_release()}")
        for gateway in Gateway.objects.filter(group=group).select_related("status"):
            status = getattr(gateway, "status", None)
            self.stdout.write(f"{gateway}: {(status and status.agent) or 'not told yet'}")
        last = find_last_upgrade(group)
        if last:
            self.stdout.write(f"Last upgrade, to {last.agent}: {last.get_state_display()}")
            self._say_once(set(), *(each(step) for step in last.steps.all() for each in (describe_step, describe_package_need)))

    def _stop(self, group: GatewayGroup) -> None:
        last = find_last_upgrade(group)
        if last is None or not stop_upgrade(last):
            raise CommandError("There is nothing to stop now: no upgrade waits. A gateway that tries the program decides first.")
        self.stdout.write("Stopped. The other gateways keep their programs.")


def _find_group(name: str | None) -> GatewayGroup:
    if name:
        return enrolment.get_group(name)
    groups = list(GatewayGroup.objects.all()[:2])
    if len(groups) != 1:
        raise CommandError("Name the group." if groups else "There is no gateway group yet.")
    return groups[0]
