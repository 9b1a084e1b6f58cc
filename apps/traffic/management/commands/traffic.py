"""Command `manage.py traffic`: shows and sets the retention of usage, shows the state of each gateway's readings, and lets counting
begin again after a refused reading.
"""

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError
from django.utils import timezone

from apps.network.models import Gateway
from apps.traffic import counter_collection, rollup
from apps.traffic.models import Collected, Level

# Retention that can be set, and the levels that it applies to: weeks are sums of days
KEPT: Final = {
    Level.Name.FIVE_MINUTES.value: [Level.Name.FIVE_MINUTES],
    Level.Name.HOUR.value: [Level.Name.HOUR],
    Level.Name.DAY.value: [Level.Name.DAY, Level.Name.WEEK, Level.Name.FOUR_WEEKS],
}


class Command(BaseCommand):
    help = "Usage accounting: retention of each level, state of the readings, and a new start after an implausible reading."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="levels | keep | readings | accept")
        what.add_parser("levels", help="show how many days each level is kept, and up to when it is complete")
        keep = what.add_parser("keep", help="set for how many days a level is kept")
        keep.add_argument("level", choices=KEPT)
        keep.add_argument("days", type=int)
        what.add_parser("readings", help="show when each gateway was last read, and what was wrong with the reading")
        accept = what.add_parser("accept", help="take a gateway's next reading as the new start; traffic before it is not counted")
        accept.add_argument("gateway")

    def handle(self, *args: Any, **options: Any) -> None:
        rollup.ensure_levels(timezone.now())
        getattr(self, f"_{options['what']}")(options)

    def _levels(self, _options: dict[str, Any]) -> None:
        for row in Level.objects.order_by("days"):
            self.stdout.write(f"{row.name:12} {row.days:5} days, complete until {row.complete_until:%Y-%m-%d %H:%M} UTC")

    def _keep(self, options: dict[str, Any]) -> None:
        try:
            Level.objects.filter(name__in=KEPT[options["level"]]).update(days=options["days"])
        except IntegrityError as error:
            raise CommandError(f"{options['level']} cannot be kept for {options['days']} days: {str(error).splitlines()[0]}") from error
        self._levels(options)

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
