"""The incremental and the full computation of a ruleset agree after any changes of the rows.

NETZWART_TWO_WAYS_STEPS sets the number of steps, NETZWART_TWO_WAYS_SEED the seed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.deployments.desired_state import policy_snapshot
from apps.deployments.desired_state.desired_rulesets import DesiredState, compute_desired_state, update_desired_state
from firewall.diff import apply, diff
from firewall.digest import digest_ruleset, format_digest, subtract_expired_from_base_digest
from firewall.ruleset import drop_expired
from tests import factories
from tests.random_changes import Changes, Overlapping

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = int(os.environ.get("NETZWART_TWO_WAYS_STEPS", "120"))
SEED = int(os.environ.get("NETZWART_TWO_WAYS_SEED", "1"))


@contextmanager
def beside(changes: Changes) -> Iterator[list[Overlapping]]:
    """Open two more connections, and bound the wait for another one's lock to 20 ms."""
    changes.sql("SET lock_timeout = '20ms'")
    others = [Overlapping(changes.dice) for _ in range(2)]
    try:
        yield others
    finally:
        for other in others:
            other.close()
        changes.sql("RESET lock_timeout")


def check(before: DesiredState, short: DesiredState, full: DesiredState) -> None:
    assert short.gateways == full.gateways
    assert short.rulesets == full.rulesets
    assert short.digests == full.digests
    assert short.targets == full.targets
    for pk, ruleset in short.rulesets.items():
        base = before.rulesets[pk]
        delta = diff(base, ruleset)
        assert subtract_expired_from_base_digest(before.digests[pk], delta, short.snapshot.now) == digest_ruleset(
            drop_expired(base, short.snapshot.now)
        )
        assert short.targets[pk] == format_digest(digest_ruleset(drop_expired(ruleset, short.snapshot.now)))
        if ruleset is not base:
            assert short.deltas[pk].base is base
            assert short.deltas[pk].delta == delta
            assert apply(base, delta) == ruleset


def test_both_ways_agree_after_any_changes(transactional_db: None) -> None:
    network = factories.network()
    changes, taken, different = Changes(network, SEED), 0, 0
    known = compute_desired_state(network.group)
    with beside(changes) as others:
        for _ in range(STEPS):
            changes.step()
            changes.dice.choice(others).step()
            changes.ahead += timedelta(minutes=changes.dice.choice([0, 0, 1, 10, 200, -60]))
            at = timezone.now() + changes.ahead
            change = policy_snapshot.take_changes(network.group, known.snapshot, at)
            short, full = change and update_desired_state(known, change), compute_desired_state(network.group, at)
            if short:
                check(known, short, full)
                taken += 1
                different += short.targets != known.targets
            known = short or full
    assert taken == STEPS
    assert different > STEPS / 3
