"""Moments on the way of a change, for whoever measures it: a line of the log with the time. Costs next to nothing while it is off.

Switched on by NETZWART_MOMENTS (docs/settings.md); `script/bench commit --explain` reads the lines.
"""

import logging
import time

_log = logging.getLogger("netzwart.moments")


def log_moment(what: str) -> None:
    """This has just happened."""
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug("moment %.6f %s", time.time(), what)
