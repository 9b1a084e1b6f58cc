"""What other servers of the network are configured from: DHCP, DNS, RADIUS, Prometheus."""
