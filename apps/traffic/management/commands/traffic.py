"""Command `manage.py traffic`: shows the levels of usage and the state of each gateway's readings, and lets counting begin again after a
refused reading.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.network.models import Gateway
from apps.traffic import counter_collection, rollup
from apps.traffic.models import Collected, Level


class Command(BaseCommand):
    help = "Usage accounting: how complete each level is, state of the readings, and a new start after an implausible reading."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="levels | readings | accept")
        what.add_parser("levels", help="show how many days each level is kept, and up to when it is complete")
        what.add_parser("readings", help="show when each gateway was last read, and what was wrong with the reading")
        accept = what.add_parser("accept", help="take a gateway's next reading as the new start; traffic before it is not counted")
        accept.add_argument("gateway")

    def handle(self, *args: Any, **options: Any) -> None:
        rollup.ensure_levels(timezone.now())
        getattr(self, f"_{options['what']}")(options)

    def _levels(self, _options: dict[str, Any]) -> None:
        for row in sorted(Level.objects.all(), key=lambda level: level.days):
            self.stdout.write(f"{row.name:12} {row.days:5} days, complete until {row.complete_until:%Y-%m-%d %H:%M} UTC")

    def _readings(self, _options: dict[str, Any]) -> None:
        for row in Collected.objects.select_related("gateway").order_by("gateway__name"):
            read = f"read {row.at:%Y-%m-%d %H:%M:%S} UTC" if row.at else "never read"
            more = [row.refused, f"{row.nobodys} elements without a member, such as {row.nobodys_first}" if row.nobodys else ""]
            self.stdout.write("; ".join(filter(None, [f"{row.gateway.name}: {read}", *more])))

    def _accept(self, options: dict[str, Any]) -> None:
        try:
            gateway = Gateway.objects.get(name=options["gateway"])
        except Gateway.DoesNotExist as error:
            raise CommandError(f"Unknown gateway {options['gateway']}; `manage.py gateway list` lists all.") from error
        counter_collection.accept_next_reading(gateway=gateway)
        self.stdout.write(f"{gateway}: counting begins again with its next reading.")
