"""Metrics for Prometheus, and the reports for other monitors: what they say, and to whom."""

from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from apps.accounts.models import User
from apps.accounts.tokens import create_token
from apps.deployments.models import Rollout
from apps.gateways.packet_probes.models import ProbeStatus
from apps.metrics.exposition import render_metrics
from apps.network.models import Gateway
from apps.operations import health
from firewall.health import Forwarding
from tests import factories
from tests.db.test_pages_dashboard import rollout, runs
from tests.health_situations import build_counters, store_reading

type Asking = Callable[..., Any]


@pytest.fixture
def ask(client: Client, network: factories.Network) -> Asking:
    """Ask for /metrics with a token of this scope, or without one."""

    def asking(*scopes: str, user: User | None = None, **given: Any) -> Any:
        headers = {}
        if scopes:
            _token, key = create_token(user=user or network.admin, name="prometheus", scopes=scopes, **given)
            headers = {"Authorization": f"Bearer {key}"}
        return client.get("/metrics", headers=headers)

    return asking


type Samples = dict[tuple[str, frozenset[str]], float]


def read_samples() -> Samples:
    """Return the value of each series by its name and the values of its labels."""
    families = text_string_to_metric_families(render_metrics(timezone.now()).decode())
    samples: list[Sample] = [sample for family in families for sample in family.samples]
    assert len({(each.name, *sorted(each.labels.items())) for each in samples}) == len(samples), "a series is there twice"
    return {(each.name, frozenset(each.labels.values())): each.value for each in samples}


def test_only_a_token_for_metrics_may_read_them(ask: Asking) -> None:
    assert ask().status_code == 401
    assert ask("ban:read").status_code == 403
    assert ask("metric:read", member=factories.member().pk).status_code == 403
    answer = ask("metric:read")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")


def test_a_member_has_no_metrics(ask: Asking) -> None:
    somebody = User.objects.create_user("somebody", roles=["member"])
    assert ask("metric:read", user=somebody).status_code == 403


def test_a_listed_network_needs_no_token(ask: Asking, settings: LazySettings) -> None:
    settings.METRICS_NETWORKS = [ip_network("192.0.2.0/24")]
    assert ask().status_code == 401
    settings.METRICS_NETWORKS = [ip_network("127.0.0.0/8")]
    assert ask().status_code == 200


def test_metrics_say_what_gateways_run_carry_and_pass(network: factories.Network) -> None:
    last = rollout(network)
    runs(network, last)
    gateway, now = network.gateways[0], timezone.now()
    ProbeStatus.objects.create(
        gateway=gateway, family=4, at=now, answered=now, state="passed", since=now, recent=[2000, 4000, -1, 3000], lost_echoes=[-1] * 4
    )
    found = read_samples()
    assert found["netzwart_gateway_up", frozenset({"nat-1", network.group.name})] == 1
    assert found["netzwart_gateway_revision", frozenset({"nat-1"})] == last.revision_id
    assert (
        found["netzwart_gateway_carries", frozenset({"nat-1", "ipv4"})],
        found["netzwart_gateway_carries", frozenset({"nat-2", "ipv4"})],
    ) == (1, 0)
    assert found["netzwart_probe_success", frozenset({"nat-1", "ipv4"})] == 1
    assert found["netzwart_probe_duration_seconds", frozenset({"nat-1", "ipv4"})] == 0.003
    assert found["netzwart_probe_loss_ratio", frozenset({"nat-1", "ipv4"})] == 0.25
    assert found["netzwart_alarms", frozenset({"critical"})] == 0


def test_figures_of_old_probes_are_left_out(network: factories.Network) -> None:
    at = timezone.now() - timedelta(seconds=61)
    ProbeStatus.objects.create(
        gateway=network.gateways[0], family=4, at=at, answered=at, state="passed", since=at, recent=[2000], lost_echoes=[0]
    )
    found = read_samples()
    assert found["netzwart_probe_success", frozenset({"nat-1", "ipv4"})] == 0
    assert ("netzwart_probe_last_success_timestamp_seconds", frozenset({"nat-1", "ipv4"})) in found
    assert not {name for name, _labels in found} & {"netzwart_probe_duration_seconds", "netzwart_probe_loss_ratio"}


def test_only_rollouts_that_have_ended_are_counted_up(network: factories.Network) -> None:
    def read_by_state(metric: str) -> dict[str, float]:
        return {next(iter(labels)): value for (name, labels), value in read_samples().items() if name == metric}

    assert read_by_state("netzwart_rollouts_total") == {"confirmed": 0, "failed": 0, "aborted": 0}
    last = rollout(network, state="applying")
    assert read_by_state("netzwart_rollouts_total") == {"confirmed": 0, "failed": 0, "aborted": 0}
    assert read_by_state("netzwart_rollouts_open") == {"queued": 0, "applying": 1, "paused": 0}
    Rollout.objects.filter(pk=last.pk).update(state="failed")
    assert read_by_state("netzwart_rollouts_total") == {"confirmed": 0, "failed": 1, "aborted": 0}
    assert read_by_state("netzwart_rollouts_open") == {"queued": 0, "applying": 0, "paused": 0}


def test_counters_of_machines_are_passed_on_as_they_are(network: factories.Network) -> None:
    gateway, now = network.gateways[0], timezone.now()
    no_route = {"forwarding": Forwarding(True, True, False, False)}
    for age in (20, 10, 0):
        at = now - timedelta(seconds=age)
        store_reading(gateway, build_counters(1000 - age, at.timestamp(), **no_route), at)
    found = read_samples()
    assert found["netzwart_link_received_packets_total", frozenset({"nat-1", "wan0"})] == 5_000_000
    assert found["netzwart_core_softirq_seconds_total", frozenset({"nat-1", "0"})] == 200
    assert found["netzwart_ruleset_packets_total", frozenset({"nat-1", "refused"})] == 20_000
    assert found["netzwart_kernel_events_total", frozenset({"nat-1", "insert_failed"})] == 0
    assert found["netzwart_conntrack_limit", frozenset({"nat-1"})] == 262_144
    assert found["netzwart_health_finding", frozenset({"nat-1", "no_route", "critical"})] == 1
    assert found["netzwart_clock_offset_seconds", frozenset({"nat-1"})] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("age", [61, -7200])
def test_counters_that_are_old_or_from_while_the_clock_was_ahead_are_left_out(network: factories.Network, age: int) -> None:
    at = timezone.now() - timedelta(seconds=age)
    store_reading(network.gateways[0], build_counters(1000, at.timestamp()), at)
    assert not any(name.startswith("netzwart_link_") for name, _labels in read_samples())


def test_more_gateways_need_no_more_queries(network: factories.Network) -> None:
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            render_metrics(timezone.now())
        return len(queries)

    def fill(gateway: Gateway) -> None:
        store_reading(gateway, build_counters(1000, timezone.now().timestamp()), timezone.now())

    fill(network.gateways[0])
    few = count()
    fill(network.gateways[1])
    assert count() == few


def test_reports_of_life_and_readiness_need_no_sign_in(client: Client, db: None) -> None:
    assert client.get("/healthz").content == b"ok\n"
    assert client.get("/readyz").content == b"ok\n"


@pytest.mark.parametrize("path", ["/health", "/healthz", "/readyz"])
def test_monitors_are_answered_without_tls_where_pages_are_redirected_to_it(path: str, client: Client, db: None, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/members/").status_code == 301
    assert client.get(path).status_code in (200, 503)


def test_a_portal_with_an_outdated_schema_is_alive_and_not_ready(client: Client, db: None) -> None:
    health._require_current_schema.cache_clear()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE id = (SELECT max(id) FROM django_migrations WHERE app = 'gateways')")
    answer = client.get("/readyz")
    assert (answer.status_code, b"manage.py migrate" in answer.content) == (503, True)
    assert client.get("/healthz").status_code == 200
