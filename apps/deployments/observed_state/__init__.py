"""Observed state: what each gateway is known to run, how that differs from what it should, and why."""
