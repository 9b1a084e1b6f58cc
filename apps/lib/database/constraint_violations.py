"""What the database itself says when it refuses a row: the constraint, and what stands in the way."""

from django.db import IntegrityError


def find_violation_detail(error: IntegrityError, constraint: str) -> str | None:
    """The detail that came with the refusal by this constraint (PostgreSQL manual, "Error Message Fields"); None if it was another."""
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is None or diagnosis.constraint_name != constraint:
        return None
    return str(diagnosis.message_detail or "")
