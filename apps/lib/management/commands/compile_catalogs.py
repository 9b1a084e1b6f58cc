from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.lib.translation_compiler import compile_translations


class Command(BaseCommand):
    help = "Compile the translations that have changed. Unlike compilemessages, it does not need gettext on the machine."
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        for po in compile_translations([Path(path) for path in settings.LOCALE_PATHS]):
            self.stdout.write(f"compiled {po}")
