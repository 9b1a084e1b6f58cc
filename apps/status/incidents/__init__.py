"""Incidents: what members notice or will notice, what is told of it, and the tickets about it."""
