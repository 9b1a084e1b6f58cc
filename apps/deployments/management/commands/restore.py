"""manage.py restore: restores a backup into an empty installation, shows what differs on the gateways, and lets them follow."""

from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.deployments import services
from apps.deployments.models import DatabaseRestore, RestoreDifference
from apps.deployments.restored_database import restore_hold
from apps.deployments.restored_database.comparison_digest import digest_open_comparison
from apps.deployments.revision_pages.change_summary import parse_summary_lines, render_summary
from apps.deployments.rollouts.outdated_reads import TransactionsOfAnotherServerError
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.transport import agent_channel
from apps.lib.database.validity import EARLIEST
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.network.models import GatewayGroup
from apps.operations.backup.errors import BackupError
from apps.operations.backup.restoration import FinishedRestore, hold_restored_database, restore_backup
from firewall.policy import PolicyError

NEXT = (
    "Start the programs of the portal. Nothing is sent to the gateways until somebody continues: on the page “Restored database”, or with "
    "“manage.py restore --differences”, then “manage.py restore --agree”."
)


class Command(BaseCommand):
    help = (
        "Restore a backup that “manage.py backup” made, into an empty database, with the portal's programs stopped. Afterwards nothing is "
        "sent to gateways until somebody has seen what differs, and agrees."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("backup", nargs="?", type=Path, metavar="BACKUP", help="the directory of one backup")
        what.add_argument("--differences", action="store_true", help="ask the gateways now, and show what a rollout would change")
        what.add_argument("--agree", action="store_true", help="let the gateways follow the restored database")
        what.add_argument(
            "--hold", metavar="TIME", help="PostgreSQL itself has restored the database, to this time: hold gateways and mails back as well"
        )

        parser.add_argument("--seen", metavar="CODE", help="with --agree: only if --differences would still print this code")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._act(options)
        except (BackupError, Problem, PolicyError, TransactionsOfAnotherServerError) as error:
            raise CommandError(str(error)) from error

    def _act(self, options: dict[str, Any]) -> None:
        if options["differences"]:
            self._show_differences(self._require_open_restore())
        elif options["agree"]:
            restore_hold.agree(self._require_open_restore(), by=None, seen=options["seen"])
            self.stdout.write("Agreed. A worker brings the gateways to the restored database; “manage.py deploy” does so at once.")
        elif options["hold"]:
            hold_restored_database(_parse_time(options["hold"]))
            self.stdout.write(NEXT)
        else:
            self._report(restore_backup(options["backup"], self.stdout.write))

    def _report(self, finished: FinishedRestore) -> None:
        made = formats.format_full_time(finished.manifest.made_at)
        rows = formats.format_number(sum(finished.manifest.rows.values()))
        self.stdout.write(f"Restored the backup of {made}: {rows} rows in {len(finished.manifest.rows)} tables.")
        for path in finished.keys.written:
            self.stdout.write(f"Written: {path}")
        if finished.keys.aside:
            self.stdout.write(f"Another ssh key was there. It is now {finished.keys.aside}.")
        if finished.pending:
            self.stdout.write(f"This release has {len(finished.pending)} migrations more than the backup. Run “manage.py migrate” first.")
        self.stdout.write(NEXT)

    def _require_open_restore(self) -> DatabaseRestore:
        restore = restore_hold.find_open_restore()
        if restore is None:
            raise CommandError("No restore waits for anybody: the gateways follow the database.")
        return restore

    def _show_differences(self, restore: DatabaseRestore) -> None:
        try:
            for group in GatewayGroup.objects.exclude(live_since=None):
                services.compare_with_restored_database(group, restore, WorkerLinks())
        finally:
            agent_channel.close_all_channels()
        for each in RestoreDifference.objects.filter(restore=restore).select_related("gateway").order_by("gateway__name"):
            words = each.error or render_summary(parse_summary_lines(each.changes), rules=each.chains)
            self.stdout.write(f"{each.gateway}: {words}")
            if each.text and not each.error:
                self.stdout.write(each.text)
        code = digest_open_comparison(restore)
        self.stdout.write(
            f"“manage.py adopt” says how to enter what the gateways have. To continue: manage.py restore --agree --seen {code}"
        )


def _parse_time(text: str) -> datetime:
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None or at > timezone.now() or at.date() < EARLIEST:
        raise CommandError(f"“{text}” is not a past time with its zone, such as 2026-11-28T03:00:00+01:00. Nothing was changed.")
    return at
