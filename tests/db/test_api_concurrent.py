"""Two API requests that remove the same object at once: one succeeds, the other gets 404."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from apps.accounts import tokens
from apps.lib.api.viewsets import RemoveViewSet
from apps.lib.models import Deployed
from portal.api import router
from tests import factories
from tests.db.example_objects import one_of_each
from tests.db.locks import waiting
from tests.whole.system import wait_for

REGISTERED: list[tuple[str, Any, str]] = router.registry
REMOVED = {prefix: view for prefix, view, _ in REGISTERED if issubclass(view, RemoveViewSet)}
DEPLOYED = {prefix: view for prefix, view in REMOVED.items() if issubclass(view.serializer_class.Meta.model, Deployed)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("prefix", DEPLOYED)
def test_of_two_who_remove_the_same_one_succeeds(transactional_db: None, prefix: str) -> None:
    network = factories.network()
    one_of_each(network)
    _token, key = tokens.create_token(user=network.admin, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    row = api.get(f"/api/{prefix}/?limit=1&fields=id").json()["results"][0]
    assert sorted(_both(prefix, row["id"], lambda: api.delete(f"/api/{prefix}/{row['id']}/"))) == [204, 404]


def _both(prefix: str, pk: int, remove: Callable[[], object]) -> list[int]:
    """Return the status codes of two requests that both waited for the locked row."""

    def work(_: int) -> int:
        try:
            return int(remove().status_code)  # type: ignore[attr-defined]  # a response
        finally:
            connection.close()

    model = DEPLOYED[prefix].serializer_class.Meta.model
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            model.objects.select_for_update().get(pk=pk)
            asked = [pool.submit(work, number) for number in range(2)]
            wait_for(lambda: waiting() == 2)
        return [each.result() for each in asked]
