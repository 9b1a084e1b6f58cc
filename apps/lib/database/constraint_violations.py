"""Details of the database's constraint violations."""

from django.db import IntegrityError


def find_violation_detail(error: IntegrityError, constraint: str) -> str | None:
    """Return the error's detail if this constraint was violated (PostgreSQL manual, "Error Message Fields"); None if it was another one."""
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is None or diagnosis.constraint_name != constraint:
        return None
    return str(diagnosis.message_detail or "")
