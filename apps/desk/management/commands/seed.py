"""manage.py seed: fill an empty database with a realistic network."""

from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from apps.desk.seeding import demo, lab_network, network_plan
from apps.desk.seeding.failover import write_lab_failover_files
from apps.members.models import Member
from apps.nat.models import PortForward
from apps.network.models import Gateway, GatewayGroup, Holding

MAX_MEMBERS = 1_000_000  # members for whom the topology's IPv6 pool is large enough; there are more private and public addresses
FILE = "demo.json"


class Command(BaseCommand):
    help = "Fill an empty database with a realistic network: the demo network, or one of any size for benchmarks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--members", type=int, metavar="N", help=f"a network of N members, up to {MAX_MEMBERS:,}")
        what.add_argument("--demo", action="store_true", help=f"the demo network, with logins in {FILE}; only once")
        parser.add_argument(
            "--seed", type=int, default=1, metavar="S", help="seed of the random numbers: the same S gives the same network on the same day"
        )
        parser.add_argument("--in-memory", action="store_true", help="gateways that keep their rules in memory; always so without a lab")
        parser.add_argument(
            "--host-keys",
            type=Path,
            metavar="DIR",
            help="with --demo: reach gateways by ssh; DIR has NAME/ssh_host_ed25519_key.pub for each",
        )
        parser.add_argument(
            "--failover",
            type=Path,
            metavar="DIR",
            help="with --demo: gateways stand in for each other; their files for keepalived and conntrackd go to DIR/NAME, for the lab",
        )
        parser.add_argument("--url", default="http://127.0.0.1:8000/", help=f"the portal's address, for {FILE} (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        link = Gateway.Link.LAB if settings.LAB_NAME and not options["in_memory"] else Gateway.Link.LOCAL
        today = timezone.localdate()
        if options["demo"]:
            self._seed_demo(link, today, options["url"], _read_host_keys(options["host_keys"]), options["failover"])
        else:
            self._seed_members(options["members"], options["seed"], link, today)

    def _seed_members(self, count: int, seed: int, link: str, today: date) -> None:
        if not 1 <= count <= MAX_MEMBERS:
            raise CommandError(f"--members {count}: choose 1 to {MAX_MEMBERS:,}.")
        _refuse_unless_empty()
        network_plan.write_plan(network_plan.make_plan(seed, count, lab_network.read_lab_network(count), today), link)
        demo.seed_bans(None)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        self._print_counts()

    def _seed_demo(self, link: str, today: date, url: str, host_keys: Mapping[str, str], failover: Path | None) -> None:
        file = settings.VAR / FILE
        there = demo.has_demo()
        if not there:
            _refuse_unless_empty()
            demo.seed_demo(link, today, host_keys, failover=failover is not None)
        if failover:
            write_lab_failover_files(failover)
        if there and file.exists():
            self.stdout.write(f"The demo network already exists; nothing was changed. The logins are in {file}.")
            return
        logins = demo.reset_and_write_logins(file, url)
        self._print_counts()
        self.stdout.write(f"The logins{', with new passwords,' if there else ''} and an API token are in {file}:")
        for login in logins:
            self.stdout.write(f"  {login['role']:<22}{login['username']:<10}{login['password']}")

    def _print_counts(self) -> None:
        counts = {"members": Member, "holdings": Holding, "port forwards": PortForward, "gateways": Gateway}
        self.stdout.write(", ".join(f"{model._default_manager.count():,} {word}" for word, model in counts.items()) + ".")


def _read_host_keys(directory: Path | None) -> dict[str, str]:
    """Return the public host key of each gateway that has a subdirectory, by name, without the key's comment."""
    found = sorted(directory.glob("*/ssh_host_ed25519_key.pub")) if directory else []
    return {file.parent.name: " ".join(file.read_text().split()[:2]) for file in found}


def _refuse_unless_empty() -> None:
    if Member.objects.exists() or GatewayGroup.objects.exists():
        raise CommandError("This database already has members or gateways, and seed fills only an empty one. Use another database.")
