import logging
import re
import socket
from importlib import import_module
from pathlib import Path

import pytest
from celery.app import trace
from celery.worker import strategy
from django.urls import resolve

from apps.desk.seeding.lab_network import read_lab_network
from portal.programs import read_accept_queue_limit
from portal.stack import ports
from portal.stack.commands import (
    build_changes_worker,
    build_collector,
    build_events,
    build_feed_worker,
    build_gateway,
    build_mailer,
    build_memory_gateway,
    build_prober,
    build_responder,
    build_web,
    choose_events_port,
    get_prober_socket,
)
from portal.stack.demo import Demo
from portal.stack.directory_lock import is_locked, lock_directory
from portal.stack.errors import StackError
from portal.stack.serve import render_welcome
from portal.stack.state_paths import StatePaths
from portal.stack.test_summary import CaseOutcome, read, summarize
from workers import app

PLACES = StatePaths.from_directory(Path("/srv/var"))
CADDY_RESTS = 120  # seconds that Caddy keeps idle connections; nginx 60


def test_the_web_server_queues_as_many_connections_as_the_kernel_allows_and_listens_on_loopback() -> None:
    command = build_web(8000).command
    assert int(command[command.index("--backlog") + 1]) >= read_accept_queue_limit()
    assert command[command.index("--bind") + 1] == "127.0.0.1:8000"


def test_live_events_listen_on_loopback_and_far_from_a_second_portals_port() -> None:
    command = build_events(9000).command
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert int(command[command.index("--backlog") + 1]) >= read_accept_queue_limit()
    assert "--no-proxy-headers" in command, "whose X-Forwarded-For is believed says NETZWART_TRUSTED_PROXIES alone"
    assert all(
        1 <= choose_events_port(port) <= 65_535 and abs(choose_events_port(port) - port) > 100 for port in (1, 8000, 8001, 64_000, 65_535)
    )


def test_connections_rest_longer_than_proxies_let_theirs_rest() -> None:
    for program, option in ((build_web(8000), "--keep-alive"), (build_events(9000), "--timeout-keep-alive")):
        assert int(program.command[program.command.index(option) + 1]) > CADDY_RESTS


def test_a_gateway_is_the_same_agent_in_the_lab_and_in_memory() -> None:
    inside, beside = build_gateway(PLACES, "nat-1").command, build_memory_gateway(PLACES, "nat-1").command
    only_inside = ["--prober", str(get_prober_socket(PLACES, "nat-1")), "--failover", "/run/failover-nat-1/etc/netzwart/failover.conf"]
    only_inside += ["--installs", "/run/failover-nat-1/requests", "--outcome", "/run/failover-nat-1/trial"]
    assert [part for part in inside[inside.index("--") + 1 :] if part not in only_inside] == [part for part in beside if part != "--fake"]


def test_the_responder_listens_where_the_demos_probes_ask() -> None:
    command = build_responder(PLACES).command
    assert int(command[command.index("--port") + 1]) == read_lab_network(10).targets.responder_port


def test_a_prober_listens_where_its_gateways_agent_asks() -> None:
    command, agent = build_prober(PLACES, "nat-2").command, build_gateway(PLACES, "nat-2").command
    assert command[command.index("exec") + 1] == "probe-2"
    assert command[command.index("--socket") + 1] == agent[agent.index("--prober") + 1]


def test_changes_readings_mail_and_feeds_have_a_worker_each_that_together_take_every_task() -> None:
    taken = [
        each.command[each.command.index("--queues") + 1]
        for each in (build_changes_worker(), build_collector(), build_mailer(), build_feed_worker())
    ]
    for module in app.conf.include:
        import_module(module)  # as a worker does, without the checks that need the database
    names = [name for name in app.tasks if name.startswith("workers.")]
    assert {name: app.amqp.router.route({}, name)["queue"].name for name in names} == {
        "workers.reconcile": taken[0],
        "workers.reconcile_group": taken[0],
        "workers.take_over": taken[0],
        "workers.forget": taken[1],
        "workers.report_served": taken[0],
        "workers.collect": taken[1],
        "workers.collect_one": taken[1],
        "workers.tend_usage": taken[1],
        "workers.share_fairly": taken[1],
        "workers.lifecycle": taken[1],
        "workers.examine_machines": taken[1],
        "workers.refresh_feeds": taken[0],
        "workers.refresh_feed": taken[3],
        "workers.offer_tables": taken[0],
        "workers.import_people": taken[3],
        "workers.watch_roles": taken[1],
        "workers.switch_roles": taken[0],
        "workers.upgrade_agents": taken[0],
        "workers.tell_of_quotas": taken[1],
        "workers.fetch_mail": taken[1],
        "workers.probe_gateways": taken[1],
        "workers.read_health": taken[1],
        "workers.sum_health": taken[1],
        "workers.read_timeouts": taken[1],
        "workers.read_portal_health": taken[1],
        "workers.tend_evidence": taken[1],
        "workers.collect_evidence": taken[1],
        "workers.tell_webhooks": taken[1],
        "workers.count_tickets": taken[1],
        "workers.answer_tickets": taken[2],
        "workers.send_announcements": taken[2],
        "workers.send_mail": taken[2],
        "workers.receive_mail": taken[2],
        "workers.read_duty_calendars": taken[3],
        "workers.watch_alarms": taken[2],
        "workers.send_alarm_messages": taken[2],
        "workers.watch_status": taken[2],
        "workers.mail_status_updates": taken[2],
        "workers.send_sign_of_life": taken[2],
    }
    assert {queue.name: queue.routing_key for queue in app.amqp.queues.values()} == {each: each for each in taken}


def test_a_busy_port_is_named_with_one_that_is_free() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        busy = other.getsockname()[1]
        with pytest.raises(StackError, match=rf"Port {busy} is taken by another program\. \d+ is free"):
            ports.require_free_port(busy)


def test_a_state_directory_has_one_user_at_a_time(tmp_path: Path) -> None:
    places = StatePaths.from_directory(tmp_path)
    assert not is_locked(places)
    with lock_directory(places):
        assert is_locked(places)
        with pytest.raises(StackError, match="is in use by pid"), lock_directory(places):
            pass
    assert not is_locked(places)


def test_what_the_demo_offers_to_try_leads_somewhere(tmp_path: Path) -> None:
    places = StatePaths.from_directory(tmp_path)
    places.demo.write_text('{"logins": [], "token": "t"}')
    addresses = re.findall(r"http://127.0.0.1:8042(/\S*)", render_welcome(places, 8042, "", True))
    assert len(addresses) == 2 and all(resolve(each) for each in addresses)


def test_what_workers_say_of_each_task_is_hushed_and_what_goes_wrong_is_not() -> None:
    for each in (strategy.logger, trace.logger):
        assert not each.isEnabledFor(logging.INFO)
        assert each.isEnabledFor(logging.ERROR)


def test_a_demo_file_that_is_broken_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "demo.json"
    file.write_text('{"logins": [{"role": "admin"}]}')
    with pytest.raises(StackError, match="Remove it, and start again"):
        Demo.read(file)
    file.write_text('{"logins": [{"role": "admin", "username": "ada", "password": "pw"}], "token": "t"}')
    assert Demo.read(file).render_table() == ["admin  ada  pw"]


def test_the_sum_names_every_skipped_test_with_its_reason(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="tests.a" name="one"/>
        <testcase classname="tests.a" name="two"><failure message="wrong&#10;more">trace</failure></testcase>
        <testcase classname="tests.a" name="three"><skipped message="needs root"/></testcase>
        <testcase classname="tests.a" name="four"><error message="no fixture"/></testcase>
        </testsuite></testsuites>"""
    )
    lines = summarize(list(read(report)))
    assert "skipped: tests.a::three  (needs root)" in lines
    assert "failed: tests.a::two  wrong" in lines
    assert lines[-1] == "1 passed, 2 failed, 1 skipped"
    assert summarize([CaseOutcome("t", "passed")]) == ["1 passed, 0 failed, 0 skipped"]
