"""ReadElements: the agent says what the kernel holds, each element with its value, in pieces that add up to all of it."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from firewall import running_elements, wire
from firewall.compile import compile_policy
from firewall.ruleset import EMPTY, Element, Elements, Ruleset, Set
from firewall.running_elements import ElementsAre, ReadElements
from firewall.sets import FAMILIES, find_set_family
from gateway.element_pages import build_page
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, Served, clock
from tests.agent.requests import deploy
from tests.agent.rulesets import key, network, text_of, whole
from tests.policies import one_of_each

EVERYTHING = compile_policy(one_of_each())


def ask_for_page(gateway: AnyGateway, after_set: str = "", after_key: bytes = b"") -> ElementsAre:
    answer = gateway.ask(ReadElements(clock(), after_set, after_key))
    assert isinstance(answer, ElementsAre), answer
    return answer


def iter_pages(gateway: AnyGateway) -> Iterator[ElementsAre]:
    page = ask_for_page(gateway)
    yield page
    while page.more:
        name, elements = max(page.elements.items())
        page = ask_for_page(gateway, name, max(elements))
        yield page


def read_all(gateway: AnyGateway) -> tuple[dict[str, Set], dict[str, Elements]]:
    sets: dict[str, Set] = {}
    found: dict[str, Elements] = {}
    for page in iter_pages(gateway):
        sets |= page.sets
        found |= {name: {**found.get(name, {}), **elements} for name, elements in page.elements.items()}
    return sets, found


def list_filled(ruleset: Ruleset) -> dict[str, Elements]:
    return {name: elements for name, elements in ruleset.elements.items() if elements}


def test_the_example_fills_every_set_that_a_ruleset_can_have() -> None:
    assert {find_set_family(name) for name in list_filled(EVERYTHING)} == set(FAMILIES)


def test_every_element_of_every_set_and_map_comes_with_its_value(gateway: AnyGateway) -> None:
    deploy(gateway, whole(EVERYTHING, token=1, now=clock()))
    sets, elements = read_all(gateway)
    assert elements == list_filled(EVERYTHING)
    assert sets == {name: EVERYTHING.sets[name] for name in elements}
    gateway.restart()
    assert read_all(gateway)[1] == elements


def test_a_gateway_without_a_ruleset_has_none(gateway: AnyGateway) -> None:
    assert read_all(gateway) == ({}, {})


@restrict_to_gateways("kernel", "served on the kernel")
def test_it_is_the_kernel_that_is_read_and_not_what_was_committed(gateway: OnKernel | Served) -> None:
    deploy(gateway, whole(EVERYTHING, token=1, now=clock()))
    gateway.nft("add element inet netzwart snat4 { 10.9.9.9 : 198.51.100.77 }; delete element inet netzwart snat4_own { 10.16.0.2 }")
    gateway.nft("add element inet netzwart forward4 { 198.51.100.7 . tcp . 2222 : 10.9.9.9 . 22 }")
    gateway.nft("add set inet netzwart mine { type inet_service; elements = { 22 } }")
    sets, elements = read_all(gateway)
    assert elements["snat4"] == {**EVERYTHING.elements["snat4"], key("10.9.9.9"): Element(key("198.51.100.77"))}
    assert "snat4_own" not in elements
    [port] = elements["forward4"].keys() - EVERYTHING.elements["forward4"].keys()
    assert elements["forward4"][port].value == IPv4Address("10.9.9.9").packed + b"\0\x16\0\0"
    assert elements["mine"].keys() == {b"\0\x16"}
    assert sets["mine"].key == ("inet_service",)


@restrict_to_gateways("in memory", "served")
def test_pieces_add_up_to_all_although_none_is_longer_than_its_limit(gateway: AnyGateway) -> None:
    large = network(4000)
    deploy(gateway, whole(large, token=1, now=clock()))
    sizes = [sum(map(len, page.elements.values())) for page in iter_pages(gateway)]
    assert sum(sizes) == large.count_elements()
    assert set(sizes[:-1]) == {running_elements.MOST_ELEMENTS}
    assert read_all(gateway)[1] == list_filled(large)


def test_a_piece_with_the_longest_comments_is_within_the_limit_of_an_answer() -> None:
    comments = ['"' * 120, "," * 120, "ä" * 60]
    elements = {at.to_bytes(16): Element(b"v" * 24, comments[at % 3], 1 << 33) for at in range(running_elements.MOST_ELEMENTS)}
    answer = ElementsAre(EVERYTHING.sets, {"bans6_128": elements}, True)
    assembler = wire.Assembler(wire.ANSWERED[ReadElements])
    [(_number, data)] = [found for line in wire.iter_lines(1, answer) if (found := assembler.feed(line))]
    assert wire.parse_reply(data) == answer


@pytest.mark.parametrize("most", [1, 2, 3, 7, 10_000])
def test_elements_that_come_and_go_meanwhile_hide_no_other(most: int) -> None:
    before, after = EVERYTHING, compile_policy(replace(one_of_each(), addresses=(), owners=(), mappings=(), blocks=()))
    stays = {(name, at) for name, each in after.elements.items() for at in each if at in before.elements.get(name, {})}
    seen: list[tuple[str, bytes]] = []
    running, page = before, build_page(before, "", b"", most)
    while True:
        seen += [(name, at) for name, each in page.elements.items() for at in each]
        if not page.more:
            break
        running = after if running is before else before
        page = build_page(running, *seen[-1], most)
    assert len(seen) == len(set(seen))
    assert set(seen) >= stays


def test_reading_changes_nothing_and_is_no_drift(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    deploy(gateway, whole(EVERYTHING, token=1, now=clock()))
    before = gateway.table.read(clock())
    read_all(gateway)
    assert gateway.table.read(clock()) == before != EMPTY
    assert gateway.ask(wire.Drift(clock())) == wire.Drifted(text_of(EVERYTHING), (), {})
    gateway.close()
