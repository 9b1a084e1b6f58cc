"""Lookup of one object of a collection by its id, by a query that is compiled once for each process.

Only for collections that declare their rows as `queryset`: what `get_queryset` returns may depend on the request.
"""

from functools import cache
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet
from django.http import Http404
from rest_framework.generics import GenericAPIView

from apps.lib.api.filter_types import LARGEST
from apps.lib.database.compiled_query import STAND_IN, CompiledQuery


def get_fixed_rows(view: type[GenericAPIView[Any]]) -> QuerySet[Any] | None:
    """Return the view's rows, or None if they depend on the request."""
    return view.queryset.all() if view.queryset is not None and view.get_queryset is GenericAPIView.get_queryset else None


@cache
def compile_lookup(view: type[GenericAPIView[Any]]) -> CompiledQuery[Any] | None:
    """Return the query of a view's object, or None if the view's rows depend on the request, or have ids of less than eight octets."""
    rows = get_fixed_rows(view)
    try:
        return None if rows is None else CompiledQuery(rows.filter(pk=STAND_IN).order_by())
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
