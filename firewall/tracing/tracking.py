"""The state that connection tracking gives a packet, as in a kernel with `nf_conntrack_tcp_loose=0`.

Source: linux/net/netfilter/nf_conntrack_proto_{tcp,icmp,icmpv6}.c.
"""

from firewall.tracing.packet import ICMP, ICMPV6, TCP, ConntrackState, Packet

_QUERIES = {ICMP: frozenset({8, 13, 15, 17}), ICMPV6: frozenset({128, 139})}  # echo, timestamp, information, mask; node information
_NEIGHBOURS = frozenset({130, 131, 132, 133, 134, 135, 136, 143})  # multicast listeners and neighbour discovery


def compute_state(packet: Packet) -> ConntrackState:
    """Return the packet's state: its own if it has one, else by its connection, else as of a packet without a connection."""
    if packet.state is not None:
        return packet.state
    if packet.flow is None:
        return _compute_unconnected_state(packet)
    if packet.icmp and packet.icmp.quoted:
        return ConntrackState.RELATED
    return ConntrackState.NEW if packet.begins and not packet.flow.replied else ConntrackState.ESTABLISHED


def _compute_unconnected_state(packet: Packet) -> ConntrackState:
    if packet.icmp:
        if packet.protocol == ICMPV6 and packet.icmp.type in _NEIGHBOURS:
            return ConntrackState.UNTRACKED
        return ConntrackState.NEW if packet.icmp.type in _QUERIES.get(packet.protocol, ()) else ConntrackState.INVALID
    if packet.protocol == TCP and not ("syn" in packet.flags and packet.flags.isdisjoint({"ack", "rst", "fin"})):
        return ConntrackState.INVALID
    return ConntrackState.NEW
