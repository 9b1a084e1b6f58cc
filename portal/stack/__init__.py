"""Starts what the portal needs on one machine: PostgreSQL, Redis, gateways, web server and workers.

In: a state directory. Out: running processes, and the NETZWART_* variables that describe them. It must not import Django: all
parts of the portal are started as commands, which commands.py lists.
"""
