"""manage.py rollback and its --release: go back to an older revision, or release the group, from a shell."""

from argparse import ArgumentParser
from getpass import getpass
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.accounts.roles import Right, list_roles_with_right
from apps.deployments import services
from apps.deployments.management.waiting_rollout import explain_wait
from apps.deployments.models import HeldBack, Hold, Revision, Rollout
from apps.deployments.rollouts import decisions, rollback
from apps.deployments.transport import agent_channel
from apps.lib.errors import Problem
from apps.network.models import GatewayGroup
from firewall.policy import PolicyError


class Command(BaseCommand):
    help = (
        "Bring a group's gateways back to an older revision, at once, and hold them there until they are released: "
        "rollback r4811 --why 'no mail since 23:10' --as mara. Without a revision, list the groups on hold and the revisions to go back to."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("revision", nargs="?", help="such as r4811")
        parser.add_argument("--why", default="", help="the reason, shown while the group is on hold")
        parser.add_argument("--as", dest="person", metavar="USERNAME", help="your account in the portal")
        parser.add_argument(
            "--alone", action="store_true", help="in an emergency: without a second person; asks for your password, and notifies the others"
        )
        parser.add_argument("--release", metavar="GROUP", help="release the group: it follows the database again")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["revision"] and options["release"]:
            raise CommandError("Give either a revision or --release GROUP, not both.")
        if not options["revision"] and not options["release"]:
            self._list()
            return
        person = _get_operator(options["person"])
        try:
            with pghistory.context(user=person.pk):
                done = self._act(options, person)
        except (Problem, PolicyError) as problem:
            raise CommandError(str(problem)) from problem
        finally:
            agent_channel.close_all_channels()
        if not done:
            raise SystemExit(1)

    def _act(self, options: dict[str, Any], person: User) -> bool:
        """Return False if the gateways do not follow."""
        if options["release"]:
            return self._deploy(self._release(options["release"], person))
        made = self._hold(options["revision"], options["why"], person, alone=options["alone"])
        return isinstance(made, Hold) and self._deploy(made.group)

    def _list(self) -> None:
        for hold in Hold.objects.filter(released=None).select_related("group", "revision", "by"):
            self.stdout.write(f"{hold.group} is on hold at {hold} by {hold.by} since {hold.since:%Y-%m-%d %H:%M} UTC: {hold.why}")
        for revision in Revision.objects.exclude(content=None).select_related("group").order_by("-pk")[:20]:
            self.stdout.write(f"{revision}  {revision.group}  {revision.created:%Y-%m-%d %H:%M} UTC  {revision.elements} elements")

    def _hold(self, name: str, why: str, by: User, *, alone: bool) -> Hold | HeldBack:
        number = name.removeprefix("r")
        revision = Revision.objects.filter(pk=int(number)).select_related("group").first() if number.isdecimal() else None
        if revision is None:
            raise CommandError(f"Unknown revision {name}. Without arguments this command lists the revisions.")
        if alone and not by.check_password(getpass(f"Password of {by.username}: ")):
            raise CommandError("Wrong password.")
        made = rollback.roll_back(revision, why=why, by=by, alone=alone)
        if isinstance(made, HeldBack):
            self.stdout.write(
                f"A rollback to {revision} takes service away or changes management: it waits for a second person, "
                "who agrees in the portal. In an emergency, --alone goes back at once."
            )
        else:
            self.stdout.write(f"{made.group} is on hold at {made} until it is released.")
        return made

    def _release(self, name: str, by: User) -> GatewayGroup:
        group = GatewayGroup.objects.filter(name=name).first()
        if group is None:
            raise CommandError(f"Unknown group {name}. Known: {', '.join(map(str, GatewayGroup.objects.all()))}.")
        decisions.release_revision_hold(group, by=by)
        self.stdout.write(f"{group} follows the database again.")
        return group

    def _deploy(self, group: GatewayGroup) -> bool:
        """Deploy in this process, because a worker may not be running. Return False if a gateway did not follow."""
        rollout = services.reconcile(group, cause="command", force=True)
        if rollout is None:
            return explain_wait(group, self.stdout, self.stderr)
        for step in rollout.steps.select_related("gateway"):
            self.stdout.write(f"{step.gateway} {step.get_state_display()}{f': {step.error}' if step.error else ''}")
        return rollout.state == Rollout.State.CONFIRMED


def _get_operator(name: str | None) -> User:
    operators = User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.OPERATE))
    person = operators.filter(username=name).first() if name else None
    if person is None:
        staff = ", ".join(operators.values_list("username", flat=True))
        raise CommandError(f"Give your account with --as USERNAME, one of {staff}.")
    return person
