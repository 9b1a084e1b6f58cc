"""Prefixes of addresses that no host on the internet can have: the special-purpose registries (RFC 6890) without what is globally
reachable.

https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, and multicast (RFC 5771, RFC 4291),
which cannot be a source and is not routed as a destination.
"""

from ipaddress import IPv4Network, IPv6Network

BOGONS4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)
BOGONS6 = tuple(
    map(
        IPv6Network,
        (
            "::/127",  # unspecified and loopback
            "::ffff:0:0/96",  # IPv4-mapped
            "64:ff9b:1::/48",  # RFC 8215
            "100::/64",  # discard-only
            "2001:2::/48",  # benchmarking
            "2001:10::/28",  # ORCHID, ended in 2014
            "2001:db8::/32",  # documentation
            "3fff::/20",  # documentation, RFC 9637
            "5f00::/16",  # segment routing, RFC 9602
            "fc00::/7",  # unique local
            "fe80::/9",  # link-local, and site-local, ended in 2004
            "ff00::/8",  # multicast
        ),
    )
)
