"""manage.py adopt: shows what the gateways run that the database lacks, and how to enter it. Changes nothing."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.deployments.adoption.listing import GroupListing, UnenteredObject, list_unentered_objects
from apps.deployments.adoption.tables import IMPORT_COLUMNS, render_listing, split_forwards
from apps.deployments.desired_state.desired_rulesets import DesiredState, compute_desired_state
from apps.deployments.revision_pages.change_summary import render_count, render_kind_name
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.deployments.transport import agent_channel
from apps.lib.csv_stream import iter_csv_lines
from apps.lib.ui import formats
from apps.network.models import Gateway, GatewayGroup
from firewall.policy import PolicyError
from firewall.sets import ObjectKind


class Command(BaseCommand):
    help = (
        "Show what the gateways run that the database lacks, as after the restore of an older backup, and for each object how to enter it "
        "again. Nothing is changed, neither here nor there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--gateway", metavar="NAME", help="ask this gateway only (default: all)")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--json", action="store_true", help="print everything as JSON, with the requests to the REST API")
        what.add_argument("--csv", action="store_true", help="print the port forwards as a table for “manage.py import_people”")

    def handle(self, *args: Any, **options: Any) -> None:
        listings = self._list_all(options["gateway"])
        if options["json"]:
            found = [render_listing(name, listing) for name, listing in listings.items()]
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=2))
        elif options["csv"]:
            self._write_table([each for listing in listings.values() for each in listing.objects])
        else:
            for name, listing in listings.items():
                self._write_listing(name, listing)
        faults = {name: fault for listing in listings.values() for name, fault in listing.faults.items()}
        for name, fault in faults.items():
            self.stderr.write(f"{name}: not read: {fault}")
        if faults:
            raise SystemExit(1)

    def _list_all(self, only: str | None) -> dict[str, GroupListing]:
        """Return the list of each group by name."""
        asked = {group: _pick_gateways(group, only) for group in GatewayGroup.objects.all()}
        if not any(asked.values()):
            known = ", ".join(Gateway.objects.order_by("name").values_list("name", flat=True)) or "none yet"
            raise CommandError(f"There is no gateway to ask. Known: {known}.")
        with agent_channel.open_own_channels() as channels:
            return {
                str(group): list_unentered_objects(group, gateways, _compute(group), channels)
                for group, gateways in asked.items()
                if gateways
            }

    def _write_listing(self, group: str, listing: GroupListing) -> None:
        if listing.gateways:
            self.stdout.write(f"{group} ({', '.join(listing.gateways)}): {_format_number(len(listing.objects))} that the database lacks")
        for kind in ObjectKind:
            of_kind = [each for each in listing.objects if each.kind is kind]
            if of_kind:
                self.stdout.write(f"\n{render_kind_name(kind)}")
            said = ""
            for each in of_kind:
                self._write_object(each, listing, advice="" if each.entry.advice == said else each.entry.advice)
                said = each.entry.advice
        if any(None in each.entry.request.body.values() for each in listing.objects if each.entry.request):
            self.stdout.write("\nFill in what is null: no gateway knows it.")
        for name, counts in listing.lacking.items():
            self.stdout.write(f"\nThe other way round, {name} lacks {_join_counts(counts)}: “manage.py plan” shows that.")
        for name, sets in listing.unreadable.items():
            named = ", ".join(f"{number} in {of}" for of, number in sets.items())
            self.stdout.write(f"\n{name} has elements that are no objects of the portal, perhaps added by hand: {named}.")

    def _write_object(self, each: UnenteredObject, listing: GroupListing, *, advice: str) -> None:
        """Write an object and how it is entered. advice: "" if it stands at the object before already."""
        entry = each.entry
        owner = f" ({entry.holder})" if entry.holder else ""
        only = f" – only on {', '.join(each.gateways)}" if len(each.gateways) < len(listing.gateways) else ""
        self.stdout.write(f"  {each.words}{owner}{only}")
        if each.database:
            self.stdout.write(f"    the database has: {each.database}")
        if advice:
            self.stdout.write(f"    {advice}")
        self.stdout.write(f"    page {entry.page}")
        if request := entry.request:
            self.stdout.write(f"    or {request.method} {request.path} {json.dumps(request.body, ensure_ascii=False)}")

    def _write_table(self, objects: list[UnenteredObject]) -> None:
        rows, others = split_forwards(objects)
        for line in iter_csv_lines(IMPORT_COLUMNS, rows):
            self.stdout.write(line, ending="")
        for each in others:
            self.stderr.write(f"Not in the table: {each.words}. {each.entry.advice or 'Enter it on its page:'} {each.entry.page}")


def _pick_gateways(group: GatewayGroup, only: str | None) -> list[Gateway]:
    return [each for each in list_in_rollout_order(group) if only in (None, each.name)]


def _compute(group: GatewayGroup) -> DesiredState:
    try:
        return compute_desired_state(group)
    except PolicyError as error:
        raise CommandError(f"{group}: {error}") from error


def _format_number(objects: int) -> str:
    return "nothing" if not objects else "one object" if objects == 1 else f"{formats.format_number(objects)} objects"


def _join_counts(counts: Mapping[ObjectKind, int]) -> str:
    return ", ".join(render_count(kind, number) for kind, number in counts.items())
