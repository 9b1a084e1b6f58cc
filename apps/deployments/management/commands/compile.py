"""manage.py compile: writes the whole ruleset of one gateway as an nft script, as for a first load."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.network.models import Gateway
from firewall.policy import PolicyError
from firewall.render import render


class Command(BaseCommand):
    help = "Write the whole ruleset of one gateway as a script for “nft -f”. No gateway is contacted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--gateway", help="the gateway (default: the first by name)")
        parser.add_argument("--output", type=Path, help="file to write (default: standard output)")

    def handle(self, *args: Any, **options: Any) -> None:
        gateway = self._get_gateway(options["gateway"])
        try:
            wanted = compute_desired_state(gateway.group)
        except PolicyError as error:
            raise CommandError(str(error)) from error
        ruleset = wanted.rulesets[gateway.pk]
        text = render(ruleset, now=wanted.snapshot.now)
        if options["output"] is None:
            self.stdout.write(text, ending="")
            return
        try:
            options["output"].write_text(text)
        except OSError as error:
            raise CommandError(f"{options['output']}: {error.strerror}") from error
        self.stdout.write(f"{gateway}: {ruleset.count_rules()} rules, {ruleset.count_elements()} elements in {options['output']}")

    def _get_gateway(self, name: str | None) -> Gateway:
        gateways = Gateway.objects.select_related("group").order_by("name")
        found = gateways.filter(name=name).first() if name else gateways.first()
        if found is None:
            known = ", ".join(gateways.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"Unknown gateway {name or ''!r}. Known: {known}.")
        return found
