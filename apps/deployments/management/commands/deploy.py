"""manage.py deploy: brings the gateways to what the database asks for, now, and shows the outcome."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.deployments import services
from apps.deployments.management.waiting_rollout import explain_wait
from apps.deployments.models import Rollout
from apps.deployments.restored_database import restore_hold
from apps.deployments.selectors import list_revision_holds
from apps.deployments.transport import agent_channel
from apps.network.models import GatewayGroup
from firewall.policy import PolicyError


class Command(BaseCommand):
    help = "Bring the gateways to the desired state, and show each gateway's outcome. Also retries what failed before."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            outcomes = [self._deploy(group) for group in GatewayGroup.objects.all()]
        finally:
            agent_channel.close_all_channels()
        if not outcomes:
            raise CommandError("No gateway group yet. Add one with “manage.py group add NAME”.")
        if not all(outcomes):
            raise SystemExit(1)

    def _deploy(self, group: GatewayGroup) -> bool:
        if restore_hold.find_open_restore():
            raise CommandError(
                "The database was restored from a backup: nothing was deployed. “manage.py restore --differences” shows what differs, "
                "“manage.py restore --agree” continues."
            )
        if group.live_since is None:
            what = f"“manage.py plan” shows the plan, “manage.py group live {group}” goes live."
            self.stderr.write(f"{group} is not live: nothing was deployed. {what}")
            return False
        try:
            rollout = services.reconcile(group, cause="command", force=True)
        except PolicyError as error:
            raise CommandError(f"{group}: {error}") from error
        reached = self._show_outcome(group, rollout) if rollout else explain_wait(group, self.stdout, self.stderr)
        return not self._is_on_hold(group) and reached

    def _show_outcome(self, group: GatewayGroup, rollout: Rollout) -> bool:
        for step in rollout.steps.select_related("gateway"):
            took = f", commit {step.commit_ms} ms, read back {step.read_back_ms} ms" if step.committed else ""
            self.stdout.write(f"{group}: {step.gateway} {step.get_state_display()}{took}{f': {step.error}' if step.error else ''}")
        return rollout.state == Rollout.State.CONFIRMED

    def _is_on_hold(self, group: GatewayGroup) -> bool:
        hold = list_revision_holds().filter(group=group).first()
        if hold is None:
            return False
        release = f"“manage.py rollback --release {group}”"
        self.stderr.write(f"{group} is on hold at {hold}: later changes stay in the database until it is released ({release}).")
        return True
