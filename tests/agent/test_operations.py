"""Answers of every gateway: hello, plan, apply, confirm, digest, counters."""

import dataclasses
from itertools import pairwise

from firewall import wire
from firewall.diff import ElementChange, apply
from firewall.ruleset import EMPTY, LATEST, PLAIN, Element
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, Served, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import ban, key, network, step, text_of, whole


def test_a_new_gateway_says_that_it_runs_nothing(gateway: AnyGateway) -> None:
    answer = welcome(gateway)
    assert (answer.name, answer.digest, answer.confirmed, answer.token) == ("gw1", text_of(EMPTY), "", 0)


def test_a_whole_ruleset_is_applied_and_confirmed(gateway: AnyGateway) -> None:
    wanted = network(3, ban("203.0.113.9/32", "scans"))
    deploy(gateway, whole(wanted, token=1, now=clock()))
    assert runs(gateway) == text_of(wanted)
    answer = welcome(gateway)
    assert (answer.digest, answer.confirmed, answer.token) == (text_of(wanted), text_of(wanted), 1)


def test_changes_follow_one_another_as_deltas(gateway: AnyGateway) -> None:
    steps = [network(2), network(3), network(3, ban("203.0.113.9/32")), network(1, ban("203.0.113.9/32", "scans")), network(1)]
    deploy(gateway, whole(steps[0], token=1, now=clock()))
    for token, (before, after) in enumerate(pairwise(steps), 2):
        deploy(gateway, step(before, after, token=token, now=clock()))
        assert runs(gateway) == text_of(after)


def test_a_plan_says_what_would_change_and_changes_nothing(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    plan = gateway.ask(wire.Plan(clock(), network(3)))
    assert isinstance(plan, wire.Planned), plan
    assert plan.digest == text_of(network(3))
    assert plan.added["up4"] == 1
    assert not plan.removed
    assert "add element inet netzwart up4 { 10.1.0.3 comment " in plan.text
    assert runs(gateway) == text_of(network(2))


def test_a_plan_of_other_values_for_thousands_of_elements_is_counted_whole_although_a_sample_is_checked(gateway: AnyGateway) -> None:
    before = network(3000)
    deploy(gateway, whole(before, token=1, now=clock()))
    moved = dict.fromkeys(before.elements["snat4"], Element(key("198.51.100.8")))
    after = dataclasses.replace(before, elements={**before.elements, "snat4": moved})
    planned = gateway.ask(wire.Plan(clock(), after))
    assert isinstance(planned, wire.Planned), planned
    assert (planned.added, planned.removed) == ({"snat4": 3000}, {"snat4": 3000})
    deploy(gateway, whole(after, token=2, now=clock()))


def test_a_plan_of_more_elements_than_a_set_takes_is_refused(gateway: AnyGateway) -> None:
    wanted = network(3)
    narrow = dataclasses.replace(wanted, sets={**wanted.sets, "up4": dataclasses.replace(wanted.sets["up4"], size=2)})
    refused = send_refused(gateway, wire.Plan(clock(), narrow))
    assert refused.text == "set up4: 3 elements do not fit, its size is 2"
    assert send_refused(gateway, whole(narrow, token=1, now=clock())).reason == "nft", "an apply is checked by the kernel"


def test_what_was_planned_can_be_applied_although_it_takes_the_last_ban_away(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(3, ban("45.0.0.0/9")), token=1, now=clock()))
    planned = gateway.ask(wire.Plan(clock(), network(3)))
    assert isinstance(planned, wire.Planned), planned
    assert planned.removed == {"bans4_9": 1}
    deploy(gateway, whole(network(3), token=2, now=clock()))


def test_an_older_token_is_refused_and_a_newer_one_remembered(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=7, now=clock()))
    gateway.restart()
    assert send_refused(gateway, whole(network(1), token=6, now=clock())).reason == "token"
    assert send_refused(gateway, wire.Confirm(6, text_of(network(2)))).reason == "token"
    assert welcome(gateway).token == 7
    assert runs(gateway) == text_of(network(2))


def test_a_delta_on_another_base_is_refused(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert send_refused(gateway, step(network(1), network(3), token=2, now=clock())).reason == "base"
    assert runs(gateway) == text_of(network(2))


def test_a_delta_that_lies_about_its_base_is_refused(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    honest = step(network(2), network(3), token=2, now=clock())
    assert honest.delta
    phantom = ElementChange(network(2).sets["up4"], {key("10.9.9.9"): PLAIN}, {})
    lie = dataclasses.replace(honest, delta=dataclasses.replace(honest.delta, elements={"up4": phantom}))
    assert send_refused(gateway, lie).reason == "base"


def test_a_target_that_is_not_the_outcome_is_refused(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    wrong = dataclasses.replace(step(network(2), network(3), token=2, now=clock()), target=text_of(network(4)))
    assert send_refused(gateway, wrong).reason == "digest"
    wrong = dataclasses.replace(whole(network(3), token=2, now=clock()), target=text_of(network(4)))
    assert send_refused(gateway, wrong).reason == "digest"
    assert runs(gateway) == text_of(network(2))


def test_only_what_was_applied_can_be_confirmed(gateway: AnyGateway) -> None:
    assert send_refused(gateway, wire.Confirm(1, text_of(network(2)))).reason == "digest"
    assert isinstance(gateway.ask(whole(network(2), token=1, now=clock())), wire.Applied)
    assert send_refused(gateway, wire.Confirm(1, text_of(network(3)))).reason == "digest"


def test_confirming_twice_is_harmless(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert gateway.ask(wire.Confirm(1, text_of(network(2)))) == wire.Confirmed(text_of(network(2)), 0)


def test_what_is_confirmed_survives_the_agents_death(gateway: AnyGateway) -> None:
    wanted = network(3, ban("203.0.113.9/32", "scans", clock() + 3600))
    deploy(gateway, whole(network(2), token=1, now=clock()))
    deploy(gateway, step(network(2), wanted, token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(wanted)
    assert welcome(gateway).confirmed == text_of(wanted)
    deploy(gateway, step(wanted, network(2), token=3, now=clock()))


def test_an_unconfirmed_ruleset_does_not_survive_a_restart(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert isinstance(gateway.ask(step(network(2), network(5, ban("203.0.113.9/32")), token=2, now=clock())), wire.Applied)
    assert runs(gateway) == text_of(network(5, ban("203.0.113.9/32")))
    gateway.restart()
    assert runs(gateway) == text_of(network(2))


def test_several_changes_can_wait_for_one_confirmation(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert isinstance(gateway.ask(step(network(2), network(3), token=2, now=clock())), wire.Applied)
    deploy(gateway, step(network(3), network(4), token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(4))


def test_what_nft_refuses_changes_nothing_and_says_why(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    small = dataclasses.replace(network(2).sets["up4"], size=2)
    elements = {**network(2).elements, "up4": network(3).elements["up4"]}
    full = dataclasses.replace(network(2), sets={**network(2).sets, "up4": small}, elements=elements)
    answer = send_refused(gateway, whole(full, token=2, now=clock()))
    assert answer.reason == "nft"
    assert "Too many open files in system" in answer.text
    assert runs(gateway) == text_of(network(2))


def test_a_ban_that_has_ended_is_in_no_digest(gateway: AnyGateway) -> None:
    now = clock()
    wanted = network(1, ban("203.0.113.8/32", "old", now - 5), ban("203.0.113.9/32", "new", now + 3600))
    deploy(gateway, whole(wanted, token=1, now=now))
    assert text_of(wanted, now) == text_of(network(1, ban("203.0.113.9/32", "new", now + 3600)))
    assert runs(gateway) == text_of(wanted, now)


def test_a_comment_is_changed_by_replacing_the_element(gateway: AnyGateway) -> None:
    before, after = network(1, ban("203.0.113.9/32", "scans")), network(1, ban("203.0.113.9/32", 'sends "spam"', clock() + 3600))
    deploy(gateway, whole(before, token=1, now=clock()))
    deploy(gateway, step(before, after, token=2, now=clock()))
    assert runs(gateway) == text_of(after)


def test_a_set_is_declared_anew_with_another_size(gateway: AnyGateway) -> None:
    before = network(2)
    larger = dataclasses.replace(before.sets["snat4"], size=1 << 18)
    after = dataclasses.replace(before, sets={**before.sets, "snat4": larger})
    deploy(gateway, whole(before, token=1, now=clock()))
    deploy(gateway, step(before, after, token=2, now=clock()))
    assert runs(gateway) == text_of(after)
    gateway.restart()
    assert runs(gateway) == text_of(after)


def test_counters_are_those_of_every_counted_set(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    first, second = gateway.ask(wire.Counters("", 0)), gateway.ask(wire.Counters("", 0))
    assert isinstance(first, wire.Reading)
    assert isinstance(second, wire.Reading)
    assert first.sets == dict.fromkeys(("up4", "down4", "up6_64", "down6_64"), wire.Counts(3, b"", b"", b"", b""))
    assert first.named.keys() == network(3).counters
    assert (first.sequence, second.sequence) == (1, 2)
    assert first.table == second.table


def test_values_that_would_read_back_as_others_are_refused(gateway: AnyGateway) -> None:
    good = network(1, ban("203.0.113.9/32"))
    for name, elements in {
        "up4": {b"\1\2\3": PLAIN},
        "snat4": {key("10.0.0.1"): PLAIN},
        "bans4_32": {key("203.0.113.9"): PLAIN._replace(comment='"; flush ruleset')},
        "down4": {key("10.0.0.1"): PLAIN._replace(expires=clock() + 60)},
    }.items():
        bad = dataclasses.replace(good, elements={**good.elements, name: elements})
        answer = send_refused(gateway, whole(bad, token=1, now=clock()))
        assert answer.reason == "malformed"
        assert name in answer.text


def test_a_request_needs_either_a_delta_or_a_ruleset(gateway: AnyGateway) -> None:
    request = whole(network(1), token=1, now=clock())
    assert send_refused(gateway, dataclasses.replace(request, ruleset=None)).reason == "malformed"
    assert send_refused(gateway, dataclasses.replace(request, delta=step(EMPTY, network(1), token=1, now=0).delta)).reason == "malformed"


@restrict_to_gateways("served", "served on the kernel")
def test_a_change_that_nobody_confirms_is_taken_back(gateway: Served) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert isinstance(gateway.ask(step(network(2), network(3), token=2, now=clock(), within=1)), wire.Applied)
    gateway.wait_for_log("it was not confirmed within 1 s")
    assert runs(gateway) == text_of(network(2))


def test_applying_a_delta_gives_the_target_ruleset() -> None:
    before, after = network(2), network(3, ban("203.0.113.9/32"))
    change = step(before, after, token=1, now=0).delta
    assert change
    assert apply(before, change) == after


def test_elements_that_expire_beyond_the_kernels_range_are_kept(gateway: AnyGateway) -> None:
    wanted = network(2, ban("203.0.113.9/32", "until 9999", expires=253_402_210_800), ban("203.0.113.10/32", expires=LATEST - 1))
    deploy(gateway, whole(wanted, token=1, now=clock()))
    assert runs(gateway) == text_of(wanted)
