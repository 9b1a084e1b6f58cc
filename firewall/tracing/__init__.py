"""Traces what a ruleset does to one packet, computed without a kernel: verdict, NAT, and every rule and element on the way.

Input: a `Ruleset` value, a packet, and the gateway's routes; output: a `Trace`. It knows the meaning of parts and hooks, never that
of a set's or chain's name. `tests/packets` compares it with a real kernel.
"""

from firewall.tracing.packet import ConntrackState, Endpoints, Icmp, Packet, TrackedConnection
from firewall.tracing.result import LeavingPacket, PartReading, Trace, TraceError, TraceOutcome, TraceStep
from firewall.tracing.routes import GatewayRoute, RoutingTable
from firewall.tracing.trace import Conversation, trace, trace_flow

__all__ = [
    "ConntrackState",
    "Conversation",
    "Endpoints",
    "GatewayRoute",
    "Icmp",
    "LeavingPacket",
    "Packet",
    "PartReading",
    "RoutingTable",
    "Trace",
    "TraceError",
    "TraceOutcome",
    "TraceStep",
    "TrackedConnection",
    "trace",
    "trace_flow",
]
