"""Lifecycle of a member: leaving, coming back, erasure, and the data that are kept of them."""
