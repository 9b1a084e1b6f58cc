"""Logs the times at which a change passes certain points, for measurements. Costs next to nothing while it is off.

NETZWART_MOMENTS switches it on (docs/settings.md); `script/bench commit --explain` reads the log lines.
"""

import logging
import time

_log = logging.getLogger("netzwart.moments")


def log_trace_point(what: str) -> None:
    """Log that this has just happened."""
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug("moment %.6f %s", time.time(), what)
