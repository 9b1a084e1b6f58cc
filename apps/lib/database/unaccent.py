"""Names compared without accents and without regard to case: ozturk finds Öztürk, weiss finds Weiß.

`without_accents` is a function of the database (migrations/members/0001): PostgreSQL's unaccent, declared immutable, so that an index
may hold its values. Both sides of a comparison go through it, therefore typed accents find as well.
"""

from typing import Any

from django.db.models import Func, TextField


def strip_accents(text: Any) -> Func:
    """Lower-case text without accents. text: a field's name or an expression."""
    return Func(text, function="without_accents", output_field=TextField())
