"""manage.py permissions: writes the table of rights as a document."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.accounts import permission_matrix


class Command(BaseCommand):
    help = "Write docs/permissions.md: every page and every action of the API, and what each role may do there."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--output",
            type=Path,
            default=settings.ROOT / "docs" / "permissions.md",
            help="the file to write (default: docs/permissions.md)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := permission_matrix.list_unknown_routes():
            raise CommandError(f"apps/accounts/route_rights.py has no line for: {', '.join(unknown)}.")
        options["output"].write_text(permission_matrix.render_document())
        self.stdout.write(f"{options['output']}: {len(permission_matrix.list_routes())} routes.")
