"""The agent's clock follows the portal's as far as messages prove it, whatever their delay."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.clock import TOLERANCE, GatewayClock

delays = st.floats(0, 1000)


class Machine:
    """A gateway with a clock that is off by this many seconds, and the portal's true time."""

    def __init__(self, off: float) -> None:
        self.true, self.booted = 1000.0, 950.0
        self.clock = GatewayClock(wall=lambda: self.true + off, steady=self.steady)

    def steady(self) -> float:
        return self.true - self.booted

    @property
    def error(self) -> float:
        return self.clock() - self.true

    def hello(self, there: float, back: float) -> None:
        """Exchange a request and its answer, with these delays in seconds, and pass on the portal's bound."""
        sent = self.true
        self.true += there
        self.clock.follow(sent)
        answered = self.steady()
        self.true += back
        self.clock.limit(answered, self.true)


def test_it_is_put_forward_to_when_a_message_was_sent() -> None:
    machine = Machine(off=-100)
    assert machine.clock.follow(1000)
    assert abs(machine.error) < 0.01


def test_it_is_put_back_to_when_the_answer_had_arrived() -> None:
    machine = Machine(off=100)
    assert machine.clock.limit(50, 1002)
    assert abs(machine.error - 2) < 0.01


def test_an_old_message_moves_nothing() -> None:
    machine = Machine(off=0)
    assert not machine.clock.follow(900)
    assert not machine.clock.limit(50, 1500)
    assert abs(machine.error) < 0.01


def test_whoever_says_no_time_changes_none() -> None:
    machine = Machine(off=0)
    assert not machine.clock.follow(0)


@given(there=delays, back=delays)
def test_a_right_clock_stays_right_however_long_messages_take(there: float, back: float) -> None:
    machine = Machine(off=0)
    machine.hello(there, back)
    assert abs(machine.error) < 0.01


@given(off=st.floats(-1000, 1000), there=delays, back=delays)
def test_a_wrong_clock_is_as_right_as_the_quickest_exchange_was_quick(off: float, there: float, back: float) -> None:
    machine = Machine(off)
    machine.hello(there, back)
    machine.hello(0, 0)
    assert abs(machine.error) <= TOLERANCE + 0.01
