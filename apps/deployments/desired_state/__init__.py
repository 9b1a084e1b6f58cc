"""Desired state: from database rows to the ruleset that each gateway should run."""
