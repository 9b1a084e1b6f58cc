"""Base view sets of the API's collections.

A view set declares rows, serializer and filters, and chooses the operations that it offers. Responses are objects with ETags,
pages, or problem details. Services do the work: serializers and `remove` call them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers, status, viewsets
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from apps.lib.api import bulk, confirmation_wait, etags, table_export, write_transaction
from apps.lib.api.compiled_pages import PLAIN, CompiledPages
from apps.lib.api.filters import CustomFilter, Filters, build_unknown_error, refuse_repeated
from apps.lib.api.object_lookup import compile_lookup, find_object, get_fixed_rows
from apps.lib.api.paging import LimitOrCursorPagination
from apps.lib.api.serializers import ActiveSerializer, attach_activations, parse_shown_fields
from apps.lib.api.token_scope import build_scope_filter, is_token_scoped
from apps.lib.api.unknown_fields import refuse_unknown
from apps.lib.errors import Conflict


class CollectionViewSet(viewsets.GenericViewSet[Any]):
    """A collection. `filters`: the query parameters of its list, besides fields, ordering and paging."""

    http_method_names = ["get", "post", "put", "patch", "delete", "head"]  # the OpenAPI document says more than OPTIONS could
    filters: ClassVar[Filters] = {}
    member_path: ClassVar[str] = ""
    """ORM path to the member that a row belongs to, for tokens of one member or site; "": rows do not belong to one member."""
    group_path: ClassVar[str] = ""
    """ORM path to the gateway group that a row belongs to; "": rows do not belong to one group."""

    columns: ClassVar[tuple[str, ...]] = ()
    """Columns that a list reads, as ORM paths; (): those of `get_queryset`. Rows to change are read completely."""

    largest_body: ClassVar[int | None] = None
    """Octets of the largest request; None: the usual limit. A larger one is also declared in `portal/web/body_limits.py`."""

    waits = False
    """True if the request asks for 202 while a gateway has not confirmed."""

    @classmethod
    def has_activation(cls) -> bool:
        """True if the objects show their activation on gateways in `active`."""
        return isinstance(cls.serializer_class, type) and issubclass(cls.serializer_class, ActiveSerializer)

    def prepare_rows(self, rows: Iterable[Any]) -> list[Any]:
        """Return the rows with everything that their serializer shows, in a constant number of queries."""
        needed = self.has_activation() and (self.waits or self.shows("active"))
        return attach_activations(rows) if needed else list(rows)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        refuse_repeated(request.query_params, self.filters)
        # "metadata" is OPTIONS, which is refused; the filters of a list refuse unknown parameters themselves
        if self.action not in (None, "metadata", "list"):
            possible = type(self).has_activation() and self.action in confirmation_wait.ACTIONS
            self.waits = confirmation_wait.asks_to_wait(request, possible=possible)
            self._refuse_unknown_parameters(request)
        method = (request.method or "").lower()
        handler = getattr(self, method, None)
        if handler and request.method not in SAFE_METHODS:
            write_transaction.check_size(request, self.largest_body)
            setattr(self, method, partial(self._write, handler))

    def _write(self, handler: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        if self._takes_no_body():
            form = {**request._request.POST, **request._request.FILES}  # an empty form counts as no body
            refuse_unknown(form or (() if request.content_type.startswith("multipart/") else request.data), ())
        return write_transaction.run_write(request, partial(handler, request, *args, **kwargs))

    def _takes_no_body(self) -> bool:
        """True if the action has no request body, so that a field in it would be dropped."""
        extra: Mapping[str, Any] | None = getattr(getattr(self, str(self.action), None), "kwargs", None)
        return self.action == "destroy" or (extra is not None and "serializer_class" not in extra)

    def _refuse_unknown_parameters(self, request: Request) -> None:
        """Refuse unknown query parameters. For lists, the filters do that."""
        declared = getattr(getattr(self, str(self.action)), "answers", None)
        known = {*(declared.parameters if declared else ()), *(("fields", "brief") if self.action == "retrieve" else ())}
        known |= {name for name, each in self.filters.items() if isinstance(each, CustomFilter) and each.apply is None}
        known |= {"wait", "timeout"} if self.waits else set()
        for name in request.query_params:
            if name not in known:
                raise build_unknown_error(name, sorted(known))

    def get_serializer_context(self) -> dict[str, Any]:
        chosen = {"shown": self._parse_shown_fields()} if self._is_read() else {}
        return {**super().get_serializer_context(), **chosen}

    def _is_read(self) -> bool:
        return self.action in ("list", "retrieve") and self.request.method in SAFE_METHODS

    def _parse_shown_fields(self) -> list[str] | None:
        return parse_shown_fields(self.get_serializer_class(), self.request.query_params)

    def shows(self, *names: str) -> bool:
        """True if any of these fields is requested."""
        shown = self._parse_shown_fields() if self._is_read() else None
        return shown is None or any(name in shown for name in names)

    def get_object(self) -> Any:
        """Return the object of the address. Raises Http404 if there is none within the token's scope."""
        query = None if is_token_scoped(self.request.auth) else compile_lookup(type(self))
        if query is None:
            return super().get_object()
        row = find_object(query, self.kwargs["pk"])
        self.check_object_permissions(self.request, row)
        return row

    def get_locked_object(self) -> Any:
        """Return the object to change. With If-Match it is locked and checked: 412 if it has changed."""
        row, wanted = self.get_object(), self.request.headers.get("If-Match")
        if wanted is None:
            return row
        self.lock([row])
        row = self.get_object()
        etags.check_if_match(row, wanted)
        return row

    def lock(self, rows: Sequence[Any]) -> None:
        """Lock these rows of one table until the transaction ends."""
        locked = type(rows[0])._base_manager.select_for_update(of=("self",), no_key=True)
        list(locked.filter(pk__in=[row.pk for row in rows]).order_by("pk").values_list("pk"))

    def respond_with(self, row: Any, code: int = status.HTTP_200_OK) -> Response:
        """Return the response with the object's current state."""
        [shown] = self.prepare_rows([row])
        answer = Response(self.get_serializer(shown).data, status=code, headers={"ETag": etags.compute_etag(row)})
        return confirmation_wait.mark_accepted_if_pending(answer, [shown]) if self.waits else answer

    def respond_with_many(self, rows: Sequence[Any], code: int = status.HTTP_200_OK) -> Response:
        """Return the response with many objects."""
        shown = self.prepare_rows(rows)
        answer = Response(self.get_serializer(shown, many=True).data, status=code)
        return confirmation_wait.mark_accepted_if_pending(answer, shown) if self.waits else answer

    def validate_reach(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return the written rows if all are within the token's scope. Else raise PermissionDenied (403), which undoes the write."""
        if is_token_scoped(self.request.auth):
            reached = self.limit_to_scope(self.get_queryset()).filter(pk__in=[row.pk for row in rows]).count()
            if reached != len(rows):
                raise exceptions.PermissionDenied(_("This is outside the token’s scope."))
        return rows

    def find(self, ids: Iterable[int]) -> Mapping[int, Any]:
        """Return the visible rows with these ids."""
        rows: QuerySet[Any] = self.limit_to_scope(self.get_queryset())
        return rows.in_bulk(list(ids))

    def limit_to_scope(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows within the token's scope."""
        return rows.filter(**build_scope_filter(self.request.auth, self))

    @property
    def site_path(self) -> str:
        """ORM path to the site where the row's member lives."""
        return {"": "", "pk": "room__site"}.get(self.member_path, f"{self.member_path}__room__site")


class ReadViewSet(CollectionViewSet):
    """GET of a list and of one object."""

    def get_renderers(self) -> list[Any]:
        return [
            *super().get_renderers(),
            *([table_export.CsvNegotiationRenderer(), table_export.JsonLinesNegotiationRenderer()] if self.action == "list" else ()),
        ]

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        rows = select_columns(self.filter_queryset(self.get_queryset()), self.columns)
        if table_export.is_table_request(request):
            return table_export.build_table_response(self, rows)
        if (
            isinstance(self.paginator, LimitOrCursorPagination)
            and PLAIN.issuperset(request.query_params)
            and not is_token_scoped(request.auth)
        ):
            self.paginator.pages = compile_pages(type(self))
        page = self.prepare_rows(self.paginate_queryset(rows) or [])
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.respond_with(self.get_object())


@cache
def compile_pages(view: type[ReadViewSet]) -> CompiledPages | None:
    """Return the pages of a view's rows, or None if the rows depend on the request."""
    rows = get_fixed_rows(view)
    return None if rows is None else CompiledPages(select_columns(rows, view.columns))


def select_columns(rows: QuerySet[Any], columns: Sequence[str]) -> QuerySet[Any]:
    """Return the rows with only these columns, in one query; unchanged if no columns are given."""
    joined = {path.rpartition("__")[0] for path in columns} - {""}
    return rows.select_related(None).select_related(*joined).only(*columns) if columns else rows


class AddViewSet(CollectionViewSet):
    """POST of one object, or of a list of objects."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if isinstance(request.data, list):
            return self._create_many(bulk.validate_item_list(request.data))
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return self.respond_with(self.validate_reach([serializer.save()])[0], status.HTTP_201_CREATED)

    def _create_many(self, items: Sequence[Any]) -> Response:
        serializer: Any = self.get_serializer()
        good = bulk.validate_items(serializer, items)
        rows = bulk.apply_all_or_none(good, serializer.create_many, serializer.create)
        return self.respond_with_many(self.validate_reach(rows), status.HTTP_201_CREATED)


class ChangeOneViewSet(CollectionViewSet):
    """PUT and PATCH of one object."""

    def update(self, request: Request, *args: Any, partial: bool = False, **kwargs: Any) -> Response:
        row = self.get_locked_object()
        serializer: Any = self.get_serializer(row, data=request.data, partial=partial)
        serializer.is_valid(raise_exception=True)
        if serializer.changes_nothing(row, request.data, serializer.validated_data):
            return self.respond_with(row)
        try:
            return self.respond_with(self.validate_reach([serializer.save()])[0])
        except Conflict as error:
            raise etags.build_precondition_error() if "If-Match" in request.headers else error from error

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.update(request, *args, **(kwargs | {"partial": True}))


class ChangeViewSet(ChangeOneViewSet):
    """PUT and PATCH of one object, PATCH of a list of objects with ids."""

    def bulk_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        items = bulk.validate_item_list(request.data)
        rows = bulk.get_item_rows(items, self.find)
        bulk.check_versions(items, rows)
        serializer: Any = self.get_serializer(partial=True)
        taken = bulk.validate_items(serializer, items, rows)
        still = {row.pk for row, item, each in zip(rows, items, taken, strict=True) if serializer.changes_nothing(row, item, each)}

        def update(changes: Sequence[tuple[Any, dict[str, Any]]]) -> list[Any]:
            """Return the rows after the update. Rows that already have the requested values are not written."""
            changed = iter(serializer.update_many([change for change in changes if change[0].pk not in still]))
            return [row if row.pk in still else next(changed) for row, _taken in changes]

        changed = bulk.apply_all_or_none(list(zip(rows, taken, strict=True)), update, lambda change: update([change]))
        return self.respond_with_many(self.validate_reach(changed))


class RemoveViewSet(CollectionViewSet):
    """DELETE of one object, or of a list of ids."""

    def remove(self, row: Any) -> None:
        """End or delete the row by its service."""
        raise NotImplementedError(type(self))

    def remove_many(self, rows: Sequence[Any]) -> None:
        """Remove all rows or raise. Override it where a bulk write is faster."""
        for row in rows:
            self.remove(row)

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        self.lock([self.get_locked_object()])
        self.remove(self.get_object())  # 404 if another request removed it first
        return Response(status=status.HTTP_204_NO_CONTENT)

    def bulk_destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        items = bulk.validate_item_list(request.data)
        self.lock(bulk.get_item_rows(items, self.find, only_ids=True))
        rows = bulk.get_item_rows(items, self.find)
        bulk.check_versions([item if isinstance(item, Mapping) else {} for item in items], rows)
        bulk.apply_all_or_none(rows, self.remove_many, self.remove)
        return Response(status=status.HTTP_204_NO_CONTENT)


def refuse_limited_token(request: Request) -> None:
    """Raise PermissionDenied for a limited token, where an action concerns the whole network."""
    if is_token_scoped(request.auth):
        raise exceptions.PermissionDenied(_("This is outside the token’s scope."))


def parse_request(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the body of an action's request, validated by this serializer."""
    read = serializer(data=request.data)
    refuse_unknown(request.data, read.fields)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)
