"""Roles in failover: which gateway of a group carries which address family, as the gateways report it, and moving them."""
