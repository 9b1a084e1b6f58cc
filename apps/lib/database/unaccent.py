"""Comparison of names without accents and case: ozturk finds Öztürk, weiss finds Weiß.

`without_accents` is a database function (migrations/members/0001): PostgreSQL's unaccent, declared immutable, so that an index
can use it. Both sides of a comparison go through it, so that typed accents match as well.
"""

from typing import Any

from django.db.models import Func, TextField


def make_unaccented_expression(text: Any) -> Func:
    """Return an expression for the text in lower case without accents. text: a field's name or an expression."""
    return Func(text, function="without_accents", output_field=TextField())
