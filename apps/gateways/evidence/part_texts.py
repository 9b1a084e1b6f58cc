"""Texts about the parts of an archive: what each file is, for the page and for the archive's README. Knows no row."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from firewall.evidence import EvidenceKind

PORTAL: Final = "portal.json"
README: Final = "README.txt"
_ENDINGS: Final = {EvidenceKind.HEADERS: "pcap", EvidenceKind.NETWORK: "json", EvidenceKind.RULESET: "json", EvidenceKind.HEALTH: "json"}
FILES: Final[Mapping[EvidenceKind, str]] = {kind: f"{kind.value}.{_ENDINGS.get(kind, 'txt')}" for kind in EvidenceKind}
"""Names of the files of a gateway's parts."""
TITLES: Final[Mapping[str, Promise]] = {
    FILES[EvidenceKind.RULESET]: _("Ruleset that runs"),
    FILES[EvidenceKind.COUNTERS]: _("Counters of the ruleset"),
    FILES[EvidenceKind.HEALTH]: _("Counters of the machine"),
    FILES[EvidenceKind.CONNTRACK]: _("Statistics of the connection table"),
    FILES[EvidenceKind.FLOWS]: _("Largest connections"),
    FILES[EvidenceKind.SOCKETS]: _("TCP connections of the gateway itself"),
    FILES[EvidenceKind.NETWORK]: _("Links, addresses, routes"),
    FILES[EvidenceKind.KERNEL_LOG]: _("Kernel messages"),
    FILES[EvidenceKind.JOURNAL]: _("Journal"),
    FILES[EvidenceKind.HEADERS]: _("Packet headers"),
    PORTAL: _("What the portal knows"),
}
EXPLANATIONS: Final[Mapping[str, Promise]] = {
    FILES[EvidenceKind.RULESET]: _(
        "The digest of the ruleset that runs, what is confirmed and on trial, the kernel’s boot id, and how many elements each set has."
    ),
    FILES[EvidenceKind.COUNTERS]: _("Packets and octets of the named counters since the table was loaded: dropped, spoofed, leaked."),
    FILES[EvidenceKind.HEALTH]: _(
        "Counters since boot of cores, links and the network stack, with uptime and clock. The difference of two archives is a rate."
    ),
    FILES[EvidenceKind.CONNTRACK]: _(
        "As of “conntrack -S”, for each core. drop, early_drop and insert_failed that grow mean lost connections."
    ),
    FILES[EvidenceKind.FLOWS]: _(
        "Which addresses have most connections, and the 50 connections with most octets and packets, if the kernel counts them."
    ),
    FILES[EvidenceKind.SOCKETS]: _(
        "As of “ss -tin”. A line with “!” lacks SACK or window scaling. Connections that are merely forwarded are not in it: see the "
        "packet headers."
    ),
    FILES[EvidenceKind.NETWORK]: _("As of “ip -json link, address, route”: at most 2,000 routes."),
    FILES[EvidenceKind.KERNEL_LOG]: _("As of “dmesg”: the last messages of the kernel."),
    FILES[EvidenceKind.JOURNAL]: _("Messages of the agent, keepalived and conntrackd of the last hour. Times are in UTC."),
    FILES[EvidenceKind.HEADERS]: _(
        "Five seconds of packets at the inside, outside and sync interfaces, for Wireshark or “tcpdump -nr”. Each is cut behind its "
        "transport header, so there is no payload; options that could hold one are zeros. In the first packets of a TCP connection, "
        "look for “sackOK” and “wscale” on both sides."
    ),
    PORTAL: _(
        "The last probes, health readings and findings, rollouts, and switches of roles of this gateway, as the portal has stored them."
    ),
}
