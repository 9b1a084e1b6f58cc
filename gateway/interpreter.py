"""What the agent tells Python's interpreter, so that a change waits little while another thread reads counters (docs/adr/0054)."""

import gc
import sys

SWITCH_SECONDS = 0.0005  # after which a thread that computes lets another one go on; Python's own is ten times as long
MANY_OBJECTS = 50_000  # more than before, until the garbage collector looks at the new ones; 2,000 by default


def prepare_interpreter() -> None:
    """Let threads take turns more often, and the garbage collector look more seldom at what has no circles: rulesets and counters."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(MANY_OBJECTS)


def set_ruleset_aside() -> None:
    """Let the garbage collector look no more at what there is: it would stop all threads to follow each element."""
    gc.freeze()
