"""manage.py export_bans: prints a ban list as text, in the format that import_bans reads."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.bans.models import BanList
from apps.bans.selectors import filter_unexpired_bans, list_bans


class Command(BaseCommand):
    help = "Print the bans of a list that have not expired, one per line, with their comments behind #."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--list", required=True, metavar="NAME", help="the ban list")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["list"]
        banlist = BanList.objects.filter(name=name).first()
        if banlist is None:
            there = ", ".join(f"“{each}”" for each in BanList.objects.all()) or "none yet"
            raise CommandError(f"Unknown ban list “{name}”. Known: {there}.")
        for prefix, comment in filter_unexpired_bans(list_bans(banlist)).values_list("prefix", "comment").iterator(10_000):
            text = str(prefix).removesuffix("/32").removesuffix("/128")
            self.stdout.write(f"{text} # {comment}" if comment else text)
