"""manage.py forget_host: a machine that died, or was taken away, is not expected to report any more."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.operations import host_heartbeats


class Command(BaseCommand):
    help = "Forget a host that is gone for good. A host whose programs still run is known again within seconds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("host", help="its name, as the dashboard says it")

    def handle(self, *args: Any, **options: Any) -> None:
        if not host_heartbeats.forget_host(options["host"]):
            known = ", ".join(sorted({host for hosts in host_heartbeats.list_hosts().values() for host in hosts})) or "none"
            raise CommandError(f"No host “{options['host']}” has reported. Known hosts: {known}.")
        self.stdout.write(f"{options['host']} is forgotten.")
