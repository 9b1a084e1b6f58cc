"""The disk of the database, if it can be known: from the directory of the settings, or from the server if it runs on this machine."""

from os import statvfs
from pathlib import Path

from django.conf import settings
from django.db import connection

from apps.operations.portal_health.figures import DiskSpace

DIRECTORY = """
    SELECT setting FROM pg_settings WHERE name = 'data_directory' AND (inet_server_addr() IS NULL OR inet_server_addr() << '127.0.0.0/8'
        OR inet_server_addr() = '::1')
"""


def read_disk() -> DiskSpace | None:
    """Return its size; None if the database is on another machine, or its account may not see the directory (pg_read_all_settings)."""
    directory = settings.DATABASE_DISK or _find_directory()
    try:
        found = statvfs(directory) if directory else None
    except OSError:  # in another container, or not to be seen
        return None
    return DiskSpace(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize) if found else None


def _find_directory() -> Path | None:
    with connection.cursor() as cursor:
        cursor.execute(DIRECTORY)
        row = cursor.fetchone()
    return Path(row[0]) if row else None
