"""ETags of rows (RFC 9110, sections 8.8.3 and 13.1.1): the version, or a hash of the columns if the row has no version.

Activation on gateways is not part of it: no update can be lost to it.
"""

import hashlib

from django.db.models import Model
from django.utils.translation import gettext as _

from apps.lib.api.problems import RequestRejected
from apps.lib.models import Versioned

ANY = "*"


def compute_etag(row: Model) -> str:
    """Return the row's ETag, with its quotes."""
    if isinstance(row, Versioned):
        return f'"v{row.version}"' if row.pk else '"v0"'
    deferred = row.get_deferred_fields()
    columns = [(field.attname, str(getattr(row, field.attname))) for field in row._meta.concrete_fields if field.attname not in deferred]
    return f'"{hashlib.blake2b(repr(columns).encode(), digest_size=12).hexdigest()}"'


def check_if_match(row: Model, wanted: str) -> None:
    """Raise 412 unless If-Match contains the row's ETag or `*`."""
    named = [each.strip().removeprefix("W/") for each in wanted.split(",")]
    if ANY not in named and compute_etag(row) not in named:
        raise build_precondition_error()


def build_precondition_error() -> RequestRejected:
    """Return the 412 error for a row that changed after the client read it. Nothing was changed."""
    return RequestRejected(412, _("This was changed since you read it. Read it again, then decide."))
