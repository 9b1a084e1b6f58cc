"""Random requests to every operation of the API find no server error, and no answer that the OpenAPI document does not declare.

The requests are the same in every run. The first valid one of each operation is sent as each role, the others as an account with
all roles. --deep sends ten times as many, all as each role; --minutes goes on with new seeds for that long.
"""

import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.conf import LazySettings
from schemathesis.generation import GenerationMode

from apps.accounts import tokens
from apps.accounts.roles import Role
from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.lib.api.openapi.views import get_openapi_document
from portal.api import router
from tests import factories
from tests.api_fuzzing import Exploration
from tests.db.conftest import in_memory
from tests.web import demo_scene

FIT, UNFIT = 3, 2
"""How many requests of an operation are as the document says, and how many are not."""


@pytest.fixture
def keys(transactional_db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A token for each role in a network with one of everything; the first token belongs to a user with all roles."""
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    settings.API_RATE = 10**9
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        with in_memory(settings.GATEWAY_SOCKETS):
            demo_scene.make()
    people = {"everything": list(Role)} | {role.value: [role] for role in Role}
    users = {name: factories.user(f"with {name}", roles=roles) for name, roles in people.items()}
    yield {name: tokens.create_token(user=user, name="script")[1] for name, user in users.items()}


@pytest.mark.deep
def test_no_request_finds_a_fault_or_an_answer_that_is_not_declared(keys: dict[str, str], pytestconfig: pytest.Config) -> None:
    deep, until = bool(pytestconfig.getoption("--deep")), time.monotonic() + 60 * pytestconfig.getoption("--minutes")
    api, times, start = Exploration(get_openapi_document(router), keys), 10 if deep else 1, 0
    while not start or (not api.wrong and time.monotonic() < until):
        start += 1
        for operation in api.operations():
            for mode, most in ((GenerationMode.POSITIVE, FIT), (GenerationMode.NEGATIVE, UNFIT)):
                api.explore(operation, mode=mode, most=most * times, start=start, all_of_them=deep)
    assert not api.wrong, f"With seed {start}:\n\n{api.describe_faults()}"
    assert api.codes["everything"] >= {200, 201, 204, 400, 404, 409, 412}
    assert all(api.codes[role.value] >= {200, 403} for role in Role)
    assert not any(api.codes[role] & {201} for role in ("member", "auditor", "approver"))


def test_an_answer_that_is_not_declared_would_be_found(network: factories.Network) -> None:
    keys = {
        name: tokens.create_token(user=user, name="script")[1]
        for name, user in (("mara", network.admin), ("tom", factories.user("tom", staff=False)))
    }
    document: Any = deepcopy(get_openapi_document(router))
    path = "/api/members/tariffs/"
    document["paths"] = {path: {"get": document["paths"][path]["get"]}}
    del document["paths"][path]["get"]["responses"]["403"]
    document["components"]["schemas"]["Tariff"]["properties"]["name"] = {"type": "integer"}
    api = Exploration(document, keys)
    for operation in api.operations():
        api.explore(operation, mode=GenerationMode.POSITIVE, most=1, start=1)
    assert {kind for _label, kind in api.wrong} == {"Undocumented status code", "Response violates schema"}
