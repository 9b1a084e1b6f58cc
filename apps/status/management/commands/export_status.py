"""manage.py export_status: writes the status page as files for a server elsewhere, and the emergency sheet to a private directory."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.translation import override

from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting
from apps.status.publication.directory import write_files
from apps.status.publication.emergency_sheet import build_emergency_sheet
from apps.status.publication.static_page import build_static_page


class Command(BaseCommand):
    help = (
        "Write the status page as files, for a web server outside of the network: run it every minute and copy the directory there, by "
        "rsync or to any object store. The files load nothing from the portal."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, help="directory for the public files; it is made if it is missing")
        parser.add_argument("--url", default="", help="where they will be read, such as https://status.example.org/; feeds link to it")
        parser.add_argument(
            "--emergency",
            type=Path,
            metavar="DIR",
            help="also write the emergency sheet there: people, gateways, rulesets, runbook. Never publish it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        public, private, url = options["directory"], options["emergency"], options["url"]
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
            raise CommandError(f"--url {url!r} is no address of a web page, such as https://status.example.org/.")
        if private and _is_inside(private, public):
            raise CommandError(f"{private} is inside {public}, which is published. Choose another directory for the emergency sheet.")
        now = timezone.now()
        self._write(public, dict(build_static_page(url, now)), private=False)
        if private:
            with override(read_setting(DEFAULT_LANGUAGE)):
                self._write(private, dict(build_emergency_sheet(now)), private=True)

    def _write(self, directory: Path, files: dict[str, bytes], *, private: bool) -> None:
        try:
            changed = write_files(directory, files, private=private)
        except OSError as error:
            raise CommandError(f"{error.filename or directory}: {error.strerror}") from error
        self.stdout.write(f"{directory}: {changed} of {len(files)} files written")


def _is_inside(path: Path, directory: Path) -> bool:
    return path.absolute().resolve().is_relative_to(directory.absolute().resolve())
