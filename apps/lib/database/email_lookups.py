"""Comparison of email addresses in the database, by the rule of `email_address.py`.

`__iexact` of every EmailField uses it, in our own code and in packages. Indexes and constraints use `AsciiLower("email")`.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import EmailField, Lookup
from django.db.models.functions import Lower
from django.db.models.sql.compiler import SQLCompiler

TEMPLATE = '%(function)s((%(expressions)s) COLLATE "C")'  # collation "C" only knows A to Z


class AsciiLower(Lower):
    """SQL function that lower-cases A to Z and leaves all other characters."""

    lookup_name = "ascii_lower"
    template = TEMPLATE


@EmailField.register_lookup
class SameAddressLookup(Lookup[Any]):
    """The lookup `email__iexact`."""

    lookup_name = "iexact"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        sides = (self.process_lhs(compiler, connection), self.process_rhs(compiler, connection))
        (field, known), (value, given) = sides
        return f"{_lower_ascii(field)} = {_lower_ascii(f'{value}::text')}", (*known, *given)


def _lower_ascii(sql: str) -> str:
    return TEMPLATE % {"function": "LOWER", "expressions": sql}
