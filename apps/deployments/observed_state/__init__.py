"""Observed state: what each gateway is known to run, how it differs from the desired state, and why."""
