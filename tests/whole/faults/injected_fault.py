"""Values that describe faults: how each is caused and mended, and what people have to be told of it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum

from tests.whole.faults.scene import FaultScene

type Cause = Callable[[FaultScene], AbstractContextManager[None]]
"""Causes the fault at the beginning of the block, and mends it at its end."""
type Traffic = Callable[[FaultScene], None]

FORWARDING = (r"\bboth gateways forward\b", r"\bpackets pass nat-1 and nat-2\b")
"""Claims that are false while packets of an address family do not pass a gateway."""
ANSWERING = (r"\bnat-1 and nat-2 answer\b", r"\beach have a primary that answers\b", r"\bboth gateways\b")
"""Claims that are false while nat-1 does not answer the portal."""


class ToldBy(StrEnum):
    """When the fault is told in this way."""

    AT_ONCE = "at once"  # as soon as it is told at all
    AFTERWARDS = "afterwards"  # this way is itself broken, and tells it when it is mended
    NEVER = "never"


def pass_nothing(_scene: FaultScene) -> None:
    """No traffic is needed to see the fault."""


@dataclass(frozen=True)
class InjectedFault:
    """One fault.

    name: what a person who looks at it would call it. says: regular expressions, one for each line that the dashboard must show; any other
    line is false. hides: regular expressions for what the dashboard must not say meanwhile. traffic: runs between two steps of the
    portal's schedule. seen_after: the most seconds of the portal's clock until the dashboard shows it, and until it says that all is
    well again. mail, webhook: whether and when it is told in these ways.
    """

    name: str
    cause: Cause
    says: tuple[str, ...]
    hides: tuple[str, ...] = ()
    traffic: Traffic = pass_nothing
    seen_after: int = 30
    mail: ToldBy = ToldBy.AT_ONCE
    webhook: ToldBy = ToldBy.AT_ONCE


@dataclass(frozen=True)
class ImpossibleFault:
    """A fault that cannot be caused in network namespaces. reason: why not."""

    name: str
    reason: str


@contextmanager
def cause_nothing(_scene: FaultScene) -> Iterator[None]:
    """The traffic alone is the fault."""
    yield


def run_commands(node: str, fault: str, mend: str) -> Cause:
    """Return a cause: one line of shell in this node of the lab causes the fault, another one mends it."""

    @contextmanager
    def cause(scene: FaultScene) -> Iterator[None]:
        scene.run(node, fault)
        try:
            yield
        finally:
            scene.run(node, mend)

    return cause


def cause_together(*causes: Cause) -> Cause:
    """Return a cause of several faults at once."""

    @contextmanager
    def cause(scene: FaultScene) -> Iterator[None]:
        with ExitStack() as stack:
            for each in causes:
                stack.enter_context(each(scene))
            yield

    return cause
