"""manage.py plan: shows what a deploy would change on each gateway, in words and as nft text. Changes nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.revision_pages.change_summary import render_summary
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.deployments.transport import agent_channel, agent_client
from apps.network.models import Gateway, GatewayGroup
from firewall.policy import PolicyError
from firewall.ruleset import Ruleset
from firewall.summary import summarize_counts


class Command(BaseCommand):
    help = "Show what a deploy would change on each gateway, in words and as nft text. Nothing is changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--words", action="store_true", help="only the summary in words, without the nft text")

    def handle(self, *args: Any, **options: Any) -> None:
        with agent_channel.open_own_channels() as channels:
            answers = [
                self._show(gateway, wanted.rulesets[gateway.pk], wanted.snapshot.now, channels(gateway), nft=not options["words"])
                for group in GatewayGroup.objects.all()
                for wanted in [self._compute_desired_state(group)]
                for gateway in list_in_rollout_order(group)
            ]
        if not answers:
            raise CommandError("No gateway yet. Add one with “manage.py gateway add”.")
        for group in GatewayGroup.objects.filter(live_since=None, gateways__isnull=False, gateways__retired=None).distinct():
            self.stdout.write(f"{group} is not live. When the plan is right: manage.py group live {group}")
        if not all(answers):
            raise SystemExit(1)

    def _compute_desired_state(self, group: GatewayGroup) -> Any:
        try:
            return compute_desired_state(group)
        except PolicyError as error:
            raise CommandError(f"{group}: {error}") from error

    def _show(self, gateway: Gateway, ruleset: Ruleset, now: int, channel: agent_channel.AgentChannel, *, nft: bool) -> bool:
        try:
            answer = agent_client.plan_on_gateway(channel, now, ruleset)
        except (agent_channel.Unreachable, agent_client.AgentRefused) as fault:
            self.stderr.write(f"{gateway}: {fault}")
            return False
        words = render_summary(summarize_counts(answer.added, answer.removed, ruleset, settings=answer.settings), rules=len(answer.chains))
        self.stdout.write(f"{gateway}: {words}")
        if gateway.group.live_since is None:
            networks = ", ".join(map(str, gateway.management_networks))
            self.stdout.write(f"{gateway}: ssh at {gateway.management}, port {gateway.management_port}, is open to {networks} only")
        if nft and (answer.added or answer.removed or answer.chains or answer.settings):
            self.stdout.write(answer.text)
        return True
