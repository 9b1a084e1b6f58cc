"""Remaining times of the connections of a gateway, read when a person asks, and what a shorter timeout would save."""
