"""What a ruleset does to one packet, worked out without a kernel: verdict, NAT, and every rule and element on the way.

In goes a `Ruleset` value, a packet, and where the gateway routes; out comes a `Trace`. It knows the meaning of parts and
hooks, never that of a set's or chain's name. `tests/packets` holds it against a real kernel.
"""

from firewall.tracing.packet import Ends, Flow, Icmp, Packet, State
from firewall.tracing.result import Leaving, Outcome, Read, Step, Trace, TraceError
from firewall.tracing.routes import Route, Routes
from firewall.tracing.trace import Conversation, trace, trace_flow

__all__ = [
    "Conversation",
    "Ends",
    "Flow",
    "Icmp",
    "Leaving",
    "Outcome",
    "Packet",
    "Read",
    "Route",
    "Routes",
    "State",
    "Step",
    "Trace",
    "TraceError",
    "trace",
    "trace_flow",
]
