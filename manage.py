#!/usr/bin/env python
"""Netzwart's administration commands."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    if direct := os.environ.pop("NETZWART_DATABASE_DIRECT_URL", "").strip():  # migrations and backups cannot go through PgBouncer
        os.environ["NETZWART_DATABASE_URL"] = direct
        os.environ.pop("NETZWART_DATABASE_WEB_URL", None)
    try:
        settings.INSTALLED_APPS  # noqa: B018 - reads the settings, whose mistakes are sentences for people
    except ImproperlyConfigured as mistakes:
        sys.exit(str(mistakes))
    execute_from_command_line(sys.argv)
