"""Exports: files from which other servers of the network are configured: DHCP, DNS, RADIUS, Prometheus."""
