"""Samples of large changes, which nft checks instead of all elements."""

from hypothesis import given, settings
from hypothesis import strategies as st

from firewall.diff import Delta, ElementChange
from firewall.ruleset import Element, Set, Type
from gateway.load_plan import sample_delta
from tests.example_counts import count_examples

SNAT = Set("snat4", (Type.IPV4,), 1 << 18, value=(Type.IPV4,))
elements = st.dictionaries(st.binary(min_size=4, max_size=4), st.builds(Element, st.binary(min_size=4, max_size=4)), max_size=60)


def test_a_small_change_is_its_own_sample() -> None:
    delta = Delta(elements={"snat4": ElementChange(SNAT, {b"1234": Element(b"4321")}, {b"5678": Element(b"8765")})})
    assert sample_delta(delta, 10) == delta


@settings(max_examples=count_examples(200))
@given(elements, elements, elements, st.integers(1, 20))
def test_a_sample_is_part_of_the_change_and_deletes_what_it_replaces(
    removed: dict[bytes, Element], added: dict[bytes, Element], others: dict[bytes, Element], most: int
) -> None:
    replaced = {key: others.get(key, Element(b"\0\0\0\0")) for key in list(added)[::2]}
    whole = ElementChange(SNAT, removed | replaced, added)
    part = sample_delta(Delta(elements={"snat4": whole}), most).elements["snat4"]
    assert part.removed.items() <= whole.removed.items()
    assert part.added.items() <= whole.added.items()
    assert {key for key in part.added if key in whole.removed} <= part.removed.keys()
    assert len(part.added) <= most
    assert len(part.removed) <= 2 * most
    assert bool(part.added) == bool(added), "a sample of something is not empty"
