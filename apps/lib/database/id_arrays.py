"""Filter for rows by very many ids."""

from collections.abc import Collection

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, BooleanField, F, Func, Q, Value


def build_ids_filter(ids: Collection[int]) -> Q:
    """Return the filter for rows with one of these ids, like `pk__in`, but with one array instead of a literal for each."""
    array = Value([*ids], ArrayField(BigIntegerField()))
    return Q(Func(F("pk"), array, template="%(expressions)s)", arg_joiner=" = ANY (", output_field=BooleanField()))
