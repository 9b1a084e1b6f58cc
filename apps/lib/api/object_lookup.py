"""Lookup of one object of a collection by its id, by a query that is compiled once for each process.

Only for collections that declare their rows as `queryset`: what `get_queryset` returns may depend on the request.
"""

from functools import cache
from typing import Any, Final

from django.core.exceptions import EmptyResultSet
from django.http import Http404
from rest_framework.generics import GenericAPIView

from apps.lib.api.filter_types import LARGEST
from apps.lib.database.compiled_query import CompiledQuery

STAND_IN: Final = -(2**62)
"""Id that no row has."""


@cache
def compile_lookup(view: type[GenericAPIView[Any]]) -> CompiledQuery[Any] | None:
    """Return the query of a view's object, or None if the view's rows depend on the request, or have ids of less than eight octets."""
    if view.queryset is None or view.get_queryset is not GenericAPIView.get_queryset:
        return None
    try:
        return CompiledQuery(view.queryset.filter(pk=STAND_IN).order_by())
    except EmptyResultSet:
        return None


def find_object(query: CompiledQuery[Any], text: str) -> Any:
    """Return the object with the id that is written in an address. Raises Http404 if there is none."""
    try:
        number = int(text)
    except ValueError as error:
        raise Http404 from error
    rows = query.read({STAND_IN: number}) if abs(number) <= LARGEST else []
    if not rows:
        raise Http404
    return rows[0]
