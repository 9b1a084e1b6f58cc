"""Packet traces through a compiled ruleset: from a question in people's words to a trace, and from elements back to their origin."""
