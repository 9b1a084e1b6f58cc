"""Approvals: which removals wait for a second person, who may agree, and what agreeing or refusing does."""
