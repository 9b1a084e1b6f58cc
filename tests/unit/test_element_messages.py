"""Elements as netlink messages: packed together where they look alike, each attribute as the kernel's header says."""

from collections.abc import Iterator
from struct import pack

from hypothesis import given, settings
from hypothesis import strategies as st

from firewall import owners
from firewall.ruleset import Element, Set, Type, compute_width
from gateway.elements import build_key_message, iter_addition_messages, iter_deletion_messages, parse_comment
from gateway.netlink_attributes import iter_attribute_spans, parse_attributes
from tests.agent.strategies import POOL, elements
from tests.example_counts import count_examples

NOW = 1_700_000_000
LIST, KEY, DATA, TIMEOUT, USERDATA, EXPRESSION = 3, 1, 2, 4, 6, 7  # NFTA_SET_ELEM_LIST_ELEMENTS, NFTA_SET_ELEM_*
VALUE, EXPRESSION_DATA, RATE = 1, 2, 1  # NFTA_DATA_VALUE, NFTA_EXPR_DATA, NFTA_LIMIT_RATE
MOST_OCTETS = 0xFFFF  # the length of an attribute has 16 bits
FILLED = [of for of in POOL if not of.dynamic]


def iter_elements(messages: Iterator[bytes]) -> Iterator[dict[int, bytes]]:
    """Yield the attributes of each element, parsed one by one."""
    for message in messages:
        listed = parse_attributes(message)[LIST]
        assert len(listed) + 4 <= MOST_OCTETS
        yield from (parse_attributes(listed[start:end]) for _, start, end in iter_attribute_spans(listed))


def read_element(of: Set, given_attributes: dict[int, bytes]) -> tuple[bytes, Element]:
    """Return key and element, as the kernel would understand them."""
    left = int.from_bytes(given_attributes.get(TIMEOUT, b""))
    comment = parse_comment(given_attributes.get(USERDATA, b""))
    value = parse_attributes(given_attributes.get(DATA, b"")).get(VALUE, b"")
    if of.polices:
        limit = parse_attributes(parse_attributes(given_attributes[EXPRESSION])[EXPRESSION_DATA])
        value = limit[RATE]
    if of.has_owners and owners.parse_owner(comment):
        value, comment = owners.parse_owner(comment), ""
    return parse_attributes(given_attributes[KEY])[VALUE], Element(value, comment, NOW + left // 1000 if left else 0)


def draw_set(draw: st.DrawFn) -> tuple[Set, dict[bytes, Element]]:
    of = draw(st.sampled_from(FILLED))
    found = draw(elements(of, NOW))
    if of.has_owners and draw(st.booleans()):
        found = {key: Element(draw(st.integers(1, 10**12 - 1)).to_bytes(owners.WIDTH)) for key in found}
    return of, found


@settings(max_examples=count_examples(300))
@given(st.composite(draw_set)())
def test_elements_of_any_shape_are_read_as_they_were_packed(one: tuple[Set, dict[bytes, Element]]) -> None:
    of, wanted = one
    found = dict(read_element(of, each) for each in iter_elements(iter_addition_messages(of, wanted, NOW)))
    assert {key: tuple(each) for key, each in found.items()} == {key: tuple(each) for key, each in wanted.items()}


@given(st.sampled_from(FILLED), st.integers(0, 2500))
def test_deletions_name_each_key_once_however_narrow_keys_are(of: Set, number: int) -> None:
    width = compute_width(of.key)
    keys = [at.to_bytes(width) for at in range(min(number, 256**width))]
    assert [parse_attributes(each[KEY])[VALUE] for each in iter_elements(iter_deletion_messages(of.name, keys))] == keys


def test_what_has_expired_is_not_added_and_what_is_about_to_expire_still_has_a_moment() -> None:
    of = Set("bans4_32", (Type.IPV4,), 64, counter=True, timeout=True)
    wanted = {pack(">I", at): Element(expires=end) for at, end in enumerate((NOW - 5, NOW, NOW + 1, 0))}
    found = list(iter_elements(iter_addition_messages(of, wanted, NOW + 0.99)))
    left = {parse_attributes(each[KEY])[VALUE]: int.from_bytes(each.get(TIMEOUT, b"")) for each in found}
    assert left == {pack(">I", 2): 100, pack(">I", 3): 0}


def test_a_large_map_needs_few_messages() -> None:
    of = Set("forward4", (Type.IPV4, Type.PROTO, Type.PORT), 1 << 18, value=(Type.IPV4, Type.PORT))
    wanted = {at.to_bytes(12): Element(at.to_bytes(8)) for at in range(100_000)}
    messages = list(iter_addition_messages(of, wanted, NOW))
    assert len(messages) <= 100
    assert sum(1 for _ in iter_elements(iter(messages))) == len(wanted)


@given(st.sampled_from(FILLED), st.integers(1, 256))
def test_a_request_for_elements_names_their_keys_in_order(of: Set, many: int) -> None:
    keys = [number.to_bytes(compute_width(of.key)) for number in range(many)]
    assert [each[KEY][4:][: compute_width(of.key)] for each in iter_elements(iter([build_key_message(of.name, keys)]))] == keys
