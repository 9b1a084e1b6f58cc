"""Netzwart's agent: the program on a gateway that owns the kernel's nftables table.

Uses only the standard library and firewall/; runs on Python 3.11.
"""
