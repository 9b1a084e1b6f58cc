"""The id of a request: in its answer, in the lines that it causes, and in those of the worker that does what it asked for."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings
from django.test import Client
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from apps.deployments.services import reconcile
from apps.lib import enqueue
from tests import factories
from tests.db.page_client import signed_in
from tests.db.test_api_writing import FORWARDS, build_forward, script
from tests.whole.system import wait_for
from tests.whole.worker import broker, worker

GIVEN = "script-2026-11-28"


def test_each_answer_names_its_request(client: Client) -> None:
    first, second = (client.get("/healthz").headers["X-Request-ID"] for _ in range(2))
    assert len(first) == len(second) == 16 and first != second


@pytest.mark.parametrize(("given", "kept"), [(GIVEN, True), ("short", False), ("with space and more", False), ("x" * 65, False)])
def test_an_id_that_a_proxy_or_a_script_gives_is_kept_if_it_is_one(client: Client, given: str, kept: bool) -> None:
    assert (client.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"] == given) == kept


@pytest.mark.django_db
def test_a_line_that_a_request_causes_has_its_id_and_the_next_one_has_not() -> None:
    browser = signed_in(factories.user("selin", staff=False))
    with capture_logs(processors=[merge_contextvars]) as lines:
        browser.get("/members/", headers={"X-Request-ID": GIVEN})
        enqueue.log.info("afterwards")
    assert [line.get("request") for line in lines] == [GIVEN, None]


@pytest.mark.django_db(transaction=True)
def test_what_a_request_asks_for_is_found_in_the_workers_log_by_its_id(
    served_network: factories.Network, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NETZWART_LOGS", "json")
    assert reconcile(served_network.group)
    log = tmp_path / "worker.log"
    enqueue._get_publisher.cache_clear()
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        settings.REDIS_URL = url
        with worker(url, log):
            answer = script(served_network).post(
                FORWARDS, build_forward(served_network), content_type="application/json", headers={"X-Request-ID": GIVEN}
            )
            assert answer.status_code == 201
            wait_for(lambda: '"event": "rollout"' in log.read_text())
    enqueue._get_publisher.cache_clear()
    (told,) = [json.loads(line) for line in log.read_text().splitlines() if GIVEN in line]
    assert (told["event"], told["task"], told["request"], told["state"]) == ("rollout", "reconcile_group", GIVEN, "confirmed")
    assert told["rollout"] > 0 and told["group"] == served_network.group.name
