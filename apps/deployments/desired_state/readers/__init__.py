"""Readers of the object kinds that reach the gateways: each turns rows into values of `firewall.policy`."""
