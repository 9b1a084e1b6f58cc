"""Starts what the portal needs on one machine: PostgreSQL, Redis, gateways, web server and workers.

Comes in: a state directory. Goes out: running processes, and the NETZWART_* variables that describe them.
It must not know Django: everything of the portal is started as a command, and commands.py names them all.
"""
