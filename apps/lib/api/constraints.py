"""Translates PostgreSQL's constraint errors into Problems with a sentence, where no service has a better one.

Source: PostgreSQL manual, "Error Codes" (SQLSTATEs) and "Error Message Fields".
"""

import re

from django.db import DataError, IntegrityError
from django.db.models import ProtectedError, RestrictedError
from django.utils.translation import gettext as _

from apps.lib.errors import Conflict, Problem, Unprocessable

UNIQUE, EXCLUSION, FOREIGN_KEY, RESTRICT, CHECK, NOT_NULL = "23505", "23P01", "23503", "23001", "23514", "23502"
_KEY = re.compile(r"Key \((?:lower\()?\(?\"?(\w+)")


def explain_violation(error: IntegrityError | DataError) -> Problem | None:
    """Return a Conflict (409) if another row is in the way, an Unprocessable (422) if the value can never be valid.

    Returns None if the error does not come from the database, or is not known here.
    """
    if isinstance(error, ProtectedError | RestrictedError):
        return Conflict(_("Other objects depend on it: remove those first."))
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is None:
        return None
    state, detail = diagnosis.sqlstate or "", diagnosis.message_detail or ""
    rule = (diagnosis.constraint_name or "").replace("_", " ")
    found = _KEY.search(detail)
    field = diagnosis.column_name or (found[1].removesuffix("_id") if found else "")
    if state == UNIQUE:
        return Conflict(_("This exists already: %(field)s is taken.") % {"field": field or rule}, field)
    if state == EXCLUSION:
        return Conflict(_("This overlaps another entry (rule “%(rule)s”).") % {"rule": rule}, field)
    if state in (FOREIGN_KEY, RESTRICT):
        return Conflict(_("This is linked to another object (rule “%(rule)s”). Check that one first.") % {"rule": rule}, field)
    if state == NOT_NULL:
        return Unprocessable(_("%(field)s is required.") % {"field": field}, field)
    if state == CHECK:
        return Unprocessable(_("The rule “%(rule)s” does not allow this.") % {"rule": rule}, field)
    if isinstance(error, DataError):
        return Unprocessable(_("A value is out of range: %(message)s.") % {"message": diagnosis.message_primary or ""}, field)
    return None
