"""Which state of a row somebody saw (RFC 9110, sections 8.8.3 and 13.1.1): its version, or a hash of its columns where it has none.

What gateways say of a row is no part of that: nobody loses an update to it.
"""

import hashlib

from django.db.models import Model
from django.utils.translation import gettext as _

from apps.lib.api.problems import RequestRejected
from apps.lib.models import Versioned

ANY = "*"


def compute_etag(row: Model) -> str:
    """The ETag, with its quotes."""
    if isinstance(row, Versioned):
        return f'"v{row.version}"' if row.pk else '"v0"'
    deferred = row.get_deferred_fields()
    columns = [(field.attname, str(getattr(row, field.attname))) for field in row._meta.concrete_fields if field.attname not in deferred]
    return f'"{hashlib.blake2b(repr(columns).encode(), digest_size=12).hexdigest()}"'


def check_if_match(row: Model, wanted: str) -> None:
    """Raises 412 when the row is none of those that If-Match names."""
    named = [each.strip().removeprefix("W/") for each in wanted.split(",")]
    if ANY not in named and compute_etag(row) not in named:
        raise build_precondition_error()


def build_precondition_error() -> RequestRejected:
    """Nothing was done."""
    return RequestRejected(412, _("Somebody changed this since you read it. Read it again, then decide."))
