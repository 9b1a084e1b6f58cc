"""Messages about the remaining times of connections in a gateway's connection table, for whoever wants to choose a timeout.

They are part of the messages of firewall/wire.py. The agent only reads; neither addresses nor ports leave the gateway.
"""

from dataclasses import dataclass

from firewall.health import Count

FINE, FINE_UNTIL, COARSE = 10, 120, 60  # seconds: width of a bucket below two minutes, and above
STATES = (  # enum tcp_conntrack, linux/netfilter/nf_conntrack_tcp.h
    *("none", "syn_sent", "syn_recv", "established", "fin_wait", "close_wait", "last_ack", "time_wait", "close", "syn_sent2"),
)
ESTABLISHED = "established"
ANSWERED, UNANSWERED = "answered", "unanswered"
TCP, UDP = 6, 17


@dataclass(frozen=True, slots=True)
class ReadTimeouts:
    """Ask for the remaining times of all connections."""


@dataclass(frozen=True, slots=True)
class TimeoutHistogram:
    """Connections of one protocol (its IP number) and state by their remaining time.

    state: of TCP in STATES; of others whether packets have gone both ways. starts: the first second of each bucket that has a connection,
    ascending; counts: how many it has.
    """

    protocol: Count
    state: str
    starts: tuple[int, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TimeoutsAre:
    """Answer to ReadTimeouts. connections: how many were read; is_whole: there was time for all. milliseconds: that reading took."""

    histograms: tuple[TimeoutHistogram, ...]
    connections: Count
    is_whole: bool
    milliseconds: Count


def find_bucket_start(seconds: int) -> int:
    """Return the first second of the bucket that contains this remaining time."""
    return seconds - seconds % (FINE if seconds < FINE_UNTIL else COARSE)
