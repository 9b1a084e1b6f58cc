"""Listeners: servers of the network itself, whose packets pass the gateways without connection tracking."""
