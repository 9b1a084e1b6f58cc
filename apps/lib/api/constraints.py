"""What the database refuses, in a sentence, where no service knew a better one. PostgreSQL's errors come in, Problems go out.

SQLSTATEs: PostgreSQL manual, "Error Codes"; what an error tells: "Error Message Fields".
"""

import re

from django.db import DataError, IntegrityError
from django.db.models import ProtectedError, RestrictedError
from django.utils.translation import gettext as _

from apps.lib.errors import Conflict, Problem, Unprocessable

UNIQUE, EXCLUSION, FOREIGN_KEY, RESTRICT, CHECK, NOT_NULL = "23505", "23P01", "23503", "23001", "23514", "23502"
_KEY = re.compile(r"Key \((?:lower\()?\(?\"?(\w+)")


def explain_violation(error: IntegrityError | DataError) -> Problem | None:
    """409 for what stands in the way of something else, 422 for what can never be; None for what no database said."""
    if isinstance(error, ProtectedError | RestrictedError):
        return Conflict(_("Other things need it: remove these first."))
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is None:
        return None
    state, detail = diagnosis.sqlstate or "", diagnosis.message_detail or ""
    rule = (diagnosis.constraint_name or "").replace("_", " ")
    found = _KEY.search(detail)
    field = diagnosis.column_name or (found[1].removesuffix("_id") if found else "")
    if state == UNIQUE:
        return Conflict(_("There is one like this already: %(field)s is taken.") % {"field": field or rule}, field)
    if state == EXCLUSION:
        return Conflict(_("Something else is there at the same time (rule “%(rule)s”).") % {"rule": rule}, field)
    if state in (FOREIGN_KEY, RESTRICT):
        return Conflict(_("It hangs together with something else (rule “%(rule)s”). Look at that first.") % {"rule": rule}, field)
    if state == NOT_NULL:
        return Unprocessable(_("%(field)s has to be given.") % {"field": field}, field)
    if state == CHECK:
        return Unprocessable(_("The rule “%(rule)s” does not allow this.") % {"rule": rule}, field)
    if isinstance(error, DataError):
        return Unprocessable(_("A value is out of range: %(message)s.") % {"message": diagnosis.message_primary or ""}, field)
    return None
