"""Random API requests, made by Schemathesis from the OpenAPI document. Operations come in; wrong answers go out.

Each request is rolled back before the next. Most ids are of existing objects, so that requests get past “not found”. The same
seed gives the same requests.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import IntegrityError, close_old_connections, connection, transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.errors import InvalidSchema
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

type Ids = Mapping[str, Sequence[int]]
"""Of each collection, by its address."""

CHECKS: Final = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
MEANT: Final = {
    "member": "members/members",
    "tariff": "members/tariffs",
    "room": "members/rooms",
    "device": "members/devices",
    "holding": "network/addresses",
    "pool": "network/pools",
    "list": "bans/lists",
    "notice": "bans/notices",
    "group": "gateways/groups",
    "gateway": "gateways/gateways",
    "assignee": "accounts/people",
}
"""To which collection a field of a body points."""
MOSTLY: Final[st.SearchStrategy[bool]] = st.sampled_from([True, True, True, False])


@dataclass
class Exploration:
    """Sends requests to the API and collects wrong answers.

    `keys` are tokens by account name. The first account has the most rights and sends every request.
    """

    document: Any
    keys: Mapping[str, str]
    wrong: dict[tuple[str, str], str] = field(default_factory=dict)
    codes: dict[str, set[int]] = field(default_factory=dict)
    """What each was answered."""

    def __post_init__(self) -> None:
        self.ids = _ids(self.document, next(iter(self.keys.values())))
        asked = {**deepcopy(self.document), "security": []}  # each request carries a valid token
        self.api: Any = schemathesis.openapi.from_dict(asked)
        self.api.app = WSGIHandler()

    def operations(self) -> Iterator[Any]:
        """Yield the operations in the order of the document."""
        for found in self.api.get_all_operations():
            yield found.ok()

    def explore(self, operation: Any, *, mode: GenerationMode, most: int, start: int, all_of_them: bool = False) -> None:
        """Send requests that match the document, or do not (`mode`).

        The first one that matches is sent with every token, the others with the first token only. With `all_of_them`, every
        request is sent with every token.
        """
        own = self.ids.get("/".join(operation.path.split("/")[2:4]), ())
        names, sent, fits = list(self.keys), 0, mode is GenerationMode.POSITIVE

        @seed(start)
        @settings(max_examples=most, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
        @given(data=st.data())
        def send(data: st.DataObject) -> None:
            nonlocal sent
            case = _aim_request(data.draw(operation.as_strategy(generation_mode=mode)), data, own, self.ids)
            if case.formatted_path in self.document["paths"] and case.path_parameters:
                return  # an id such as “covering” makes it the path of another operation, which is tested on its own
            for name in names if all_of_them or (fits and not sent) else names[:1]:
                self._judge(case, name)
            sent += 1

        send()

    def _judge(self, case: Any, name: str) -> None:
        try:
            answer = _undone(case, self.keys[name])
            self.codes.setdefault(name, set()).add(answer.status_code)
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as error:
            for each in error.exceptions:
                self.wrong.setdefault((case.operation.label, each.title), f"as {name}: {case!r}\n{each}")
        except (IntegrityError, InvalidSchema) as error:
            self.wrong.setdefault((case.operation.label, type(error).__name__), f"as {name}: {case!r}\n{error}")

    def describe_faults(self) -> str:
        """Return the faults, one example of each kind for each operation."""
        return "\n\n".join(f"{label}: {kind}\n{example}" for (label, kind), example in self.wrong.items())


def _undone(case: Any, key: str) -> Any:
    """Send the request and return the answer.

    Writes are checked as a commit would check them, and rolled back. Reads may need a transaction of their own, so they get none
    here.
    """
    if case.method == "GET":
        with kept_connection():
            return case.call(headers={"Authorization": f"Bearer {key}"})
    with kept_connection(), transaction.atomic():
        answer = case.call(headers={"Authorization": f"Bearer {key}"})
        if answer.status_code < 400:
            connection.check_constraints()
        transaction.set_rollback(True)
    return answer


@contextmanager
def kept_connection() -> Iterator[None]:
    """Keep the connection open, as Django's test client does: the transaction around a request must outlive it."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    try:
        yield
    finally:
        request_started.connect(close_old_connections)
        request_finished.connect(close_old_connections)


def _ids(document: Any, key: str) -> Ids:
    client = Client(headers={"authorization": f"Bearer {key}"})
    lists = [path for path, methods in document["paths"].items() if methods.get("get", {}).get("operationId", "").endswith("_list")]
    return {path[5:-1]: [each["id"] for each in client.get(f"{path}?limit=5&fields=id").json().get("results", ())] for path in lists}


def _aim_request(case: Any, data: st.DataObject, own: Sequence[int], ids: Ids) -> Any:
    """Return the request, changed so that it mostly names existing objects."""
    if own and "id" in case.path_parameters and data.draw(MOSTLY):
        case.path_parameters = {"id": data.draw(st.sampled_from(own))}
    if isinstance(case.body, dict | list):
        case.body = _point_value(case.body, data, own, ids)
    return case


def _point_value(value: Any, data: st.DataObject, own: Sequence[int], ids: Ids) -> Any:
    if isinstance(value, list):
        return [_point_value(each, data, own, ids) for each in value]
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for name in value:
        known: Sequence[int] = own if name == "id" else ids.get(MEANT.get(name, ""), ())
        if data.draw(MOSTLY) and known:
            made[name] = data.draw(st.sampled_from(known))
    return made
