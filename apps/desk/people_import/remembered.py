"""Meanings of columns that people chose, remembered by the headers of the table, for the next table with the same headers.

Only the page uses them: a command or a script says itself what its columns mean, and does the same at each run.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from django.db.models.functions import Now

from apps.desk.people_import.columns import ColumnMeaning, normalize_header
from apps.members.models import RememberedColumns

MOST_REMEMBERED: Final = 50  # headers; the ones that were chosen first go


def compute_header_key(header: Sequence[str]) -> str:
    """Return a hash that is the same for headers that people would call the same (`normalize_header`), in the same order."""
    return hashlib.sha256(json.dumps([normalize_header(name) for name in header]).encode()).hexdigest()


def find_meanings(key: str, columns: int) -> list[str] | None:
    """Return the meanings that were chosen last for these headers; None if there are none, or if one of them exists no more."""
    found = RememberedColumns.objects.filter(key=key).values_list("meanings", flat=True).first()
    fits = found is not None and len(found) == columns and all(each in ColumnMeaning for each in found)
    return list(found) if found and fits else None


def remember_meanings(key: str, meanings: Sequence[str]) -> None:
    """Remember these meanings, and forget the oldest beyond MOST_REMEMBERED."""
    RememberedColumns.objects.update_or_create(key=key, defaults={"meanings": list(meanings), "chosen": Now()})
    kept = RememberedColumns.objects.order_by("-chosen", "-pk").values("pk")[:MOST_REMEMBERED]
    RememberedColumns.objects.exclude(pk__in=kept).delete()
