"""manage.py watch: runs on another machine, asks for a portal's health, and tells people when it is dead and when it is back."""

from argparse import ArgumentParser
from itertools import count
from time import sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.alarms.channels import apprise_client
from apps.alarms.dead_man.monitor import MonitorEvent, MonitorState, advance, choose_message, fetch_fault, record_taken


class Command(BaseCommand):
    help = (
        "Watch a portal from another machine, without its database: ask for its health again and again, and tell people when it fails "
        "several times in a row, and when it is back. Runs until it is stopped."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", help="such as https://portal.example.org/health")
        parser.add_argument("--tell", action="append", required=True, metavar="ADDRESS", help="an address of apprise; may be repeated")
        parser.add_argument("--every", type=float, default=30.0, metavar="SECONDS", help="time between two looks (default: %(default)s)")
        parser.add_argument("--after", type=int, default=4, metavar="N", help="failures in a row before it is told (default: %(default)s)")
        parser.add_argument("--times", type=int, metavar="N", help="end after so many looks, with status 1 if the last one failed")

    def handle(self, *args: Any, **options: Any) -> None:
        unknown = [each for each in options["tell"] if not apprise_client.mask_target(each)]
        if unknown:
            raise CommandError(f"apprise does not know {len(unknown)} of these addresses. Write them as its documentation shows.")
        if options["every"] <= 0 or options["after"] < 1 or (options["times"] is not None and options["times"] < 1):
            raise CommandError("--every, --after and --times must be greater than 0.")
        state = MonitorState()
        for number in count(1):
            state = advance(state, fetch_fault(options["url"]))
            event, targets = choose_message(state, options["tell"], options["after"])
            state = record_taken(state, event, self._tell(targets, options["url"], event, state.reason))
            if number == options["times"]:
                break
            sleep(options["every"])
        if state.failures:
            raise CommandError(f"{options['url']}: {state.reason}")

    def _tell(self, targets: list[str], url: str, event: MonitorEvent, reason: str) -> list[str]:
        """Send it to these addresses, and return those that took it."""
        title = f"The portal does not work: {reason}" if event is MonitorEvent.DOWN else "The portal works again"
        if targets:
            self.stdout.write(title)
        return [each for each in targets if self._is_taken(each, title, f"{url}\nGateways go on forwarding without it.")]

    def _is_taken(self, target: str, title: str, text: str) -> bool:
        """Send it, and say why if it was not taken. A service that fails in its own way ends neither the others nor the watch."""
        try:
            error = apprise_client.send_message(target, title, text)
        except Exception as fault:
            error = f"{type(fault).__name__}: {fault}"
        if error:
            self.stderr.write(f"{apprise_client.mask_target(target)}: {error}")
        return not error
