"""Desired state: from rows of the database to the ruleset that each gateway should run."""
