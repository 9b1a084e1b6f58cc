"""Netzwart's agent: the program on a gateway that owns the kernel's nftables table.

The standard library and firewall/ alone; runs on Python 3.11.
"""
