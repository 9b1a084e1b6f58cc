"""manage.py upgrade_check: what is to be done before, or still after, an upgrade."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.gateways.upgrade_check import list_findings


class Command(BaseCommand):
    help = (
        "Say what an upgrade to this release still needs: a backup, room on the disk, migrations with their locks, agents "
        "(docs/upgrade.md). Changes nothing."
    )
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        for each in list_findings(timezone.now()):
            self.stdout.write(f"{'→' if each.is_open else '✓'} {each.text}")
