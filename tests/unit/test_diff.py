from functools import reduce
from itertools import pairwise

from hypothesis import given, settings

from firewall.compile import compile_policy
from firewall.delta_composition import compose_deltas
from firewall.diff import Delta, apply, diff
from firewall.digest import digest_ruleset, format_digest, subtract_expired_from_base_digest, subtract_expired_from_digest, update_digest
from firewall.policy import Policy
from firewall.ruleset import EMPTY, drop_expired
from tests.example_counts import count_examples
from tests.policies import network, policies


@given(policies(), policies())
@settings(max_examples=count_examples(150))
def test_applying_the_difference_leads_to_what_is_wanted(first: Policy, second: Policy) -> None:
    running, wanted = compile_policy(first), compile_policy(second)
    assert apply(running, diff(running, wanted)) == wanted
    assert apply(EMPTY, diff(EMPTY, wanted)) == wanted
    assert apply(wanted, diff(wanted, EMPTY)) == EMPTY


@given(policies(), policies())
@settings(max_examples=count_examples(80))
def test_the_inverted_difference_is_the_way_back(first: Policy, second: Policy) -> None:
    running, wanted = compile_policy(first), compile_policy(second)
    delta = diff(running, wanted)
    assert apply(wanted, delta.invert()) == running
    assert delta.invert() == diff(wanted, running)


@given(policies(), policies(), policies(), policies())
@settings(max_examples=count_examples(100))
def test_deltas_composed_lead_where_they_lead_one_after_the_other(first: Policy, second: Policy, third: Policy, last: Policy) -> None:
    start, *others = map(compile_policy, (first, second, third, last))
    steps = [diff(before, after) for before, after in pairwise([start, *others])]
    composed = reduce(compose_deltas, steps, Delta())
    assert apply(start, composed) == others[-1]
    assert apply(others[-1], composed.invert()) == start


@given(policies(), policies())
@settings(max_examples=count_examples(60))
def test_what_goes_and_comes_back_is_no_difference(first: Policy, second: Policy) -> None:
    delta = diff(compile_policy(first), compile_policy(second))
    assert not compose_deltas(delta, delta.invert())


@given(policies())
@settings(max_examples=count_examples(40))
def test_there_is_nothing_to_do_between_equals(policy: Policy) -> None:
    assert not diff(compile_policy(policy), compile_policy(policy))


@given(policies(), policies())
@settings(max_examples=count_examples(150))
def test_a_digest_updated_by_a_delta_is_the_digest_of_the_whole(first: Policy, second: Policy) -> None:
    running, wanted = compile_policy(first), compile_policy(second)
    assert update_digest(digest_ruleset(running), diff(running, wanted)) == digest_ruleset(wanted)
    assert (digest_ruleset(running) == digest_ruleset(wanted)) == (running == wanted)


@given(policies())
@settings(max_examples=count_examples(80))
def test_a_digest_at_a_time_leaves_out_what_has_expired(policy: Policy) -> None:
    ruleset, now = compile_policy(policy), 2**31
    assert subtract_expired_from_digest(digest_ruleset(ruleset), ruleset, now) == digest_ruleset(drop_expired(ruleset, now))


def test_inputs_stay_as_they_are() -> None:
    running, wanted = compile_policy(network(5)), compile_policy(network(8))
    before = (digest_ruleset(running), digest_ruleset(wanted))
    apply(running, diff(running, wanted))
    assert (digest_ruleset(running), digest_ruleset(wanted)) == before


def test_a_digest_is_sixty_four_digits() -> None:
    assert len(format_digest(1)) == len(format_digest(digest_ruleset(compile_policy(network(3))))) == 64


@given(policies(), policies())
@settings(max_examples=count_examples(80))
def test_the_digest_of_a_base_at_a_time_is_known_from_the_delta_alone(first: Policy, second: Policy) -> None:
    running, now = compile_policy(first), 2**31
    wanted = drop_expired(compile_policy(second), now)
    assert subtract_expired_from_base_digest(digest_ruleset(running), diff(running, wanted), now) == subtract_expired_from_digest(
        digest_ruleset(running), running, now
    )
