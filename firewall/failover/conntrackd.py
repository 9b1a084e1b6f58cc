"""Renders conntrackd.conf: the connection states that each gateway sends to its peer, conntrackd.conf(5).

The reliable protocol FTFW goes by multicast over the sync link, so neither side needs the other's address. In direct mode, states of
the peer go into the kernel at once, where a new ban or a removed forward can end them; the other mode keeps them in memory until
the gateway takes over.
"""

from firewall.failover.spec import FailoverGateway, ProgramPaths, StateCacheMode

GROUP, PORT = "225.0.0.50", 3780
_LEAST_BUCKETS = 32_768
_FILE = """\
# Written by Netzwart. Changes by hand are overwritten; make them in the portal.
General {{
    HashSize {buckets}
    HashLimit {limit}
    LogFile off
    Syslog on
    Systemd on
    LockFile {lock}
    UNIX {{
        Path {control}
    }}
    NetlinkBufferSize 8388608
    NetlinkBufferSizeMaxGrowth 134217728
    NetlinkEventsReliable on
    Filter From Kernelspace {{
        Protocol Accept {{
            TCP
            SCTP
            DCCP
            UDP
        }}
        Address Ignore {{
            IPv4_address 127.0.0.1
            IPv4_address {address}
            IPv6_address ::1
        }}
    }}
}}

Sync {{
    Mode FTFW {{
        ResendQueueSize 131072
        DisableExternalCache {direct}
        PurgeTimeout 60
    }}
    Multicast {{
        IPv4_address {group}
        Group {port}
        IPv4_interface {address}
        Interface {interface}
        SndSocketBuffer 8388608
        RcvSocketBuffer 8388608
        Checksum on
    }}
}}
"""


def render_conntrackd(gateway: FailoverGateway, paths: ProgramPaths) -> str:
    """Return the whole file. Both caches hold at most as many states as the kernel tracks."""
    return _FILE.format(
        buckets=max(_LEAST_BUCKETS, gateway.connections // 4),
        limit=2 * gateway.connections,
        lock=paths.lock,
        control=paths.control,
        address=gateway.sync_address,
        direct="yes" if gateway.spec.cache is StateCacheMode.DIRECT else "no",
        group=GROUP,
        port=PORT,
        interface=gateway.interfaces.sync,
    )
