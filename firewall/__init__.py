"""Netzwart's firewall: compiles a policy (what the database asks for) into a ruleset (what the kernel does).

Pure: the standard library only; no clock, no randomness, no I/O. Same policy, same bytes.
"""
