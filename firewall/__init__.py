"""Netzwart's firewall: from a policy (what people asked for) to a ruleset (what the kernel does).

Pure: the standard library only; no clock, no randomness, no I/O. Same policy, same bytes.
"""
