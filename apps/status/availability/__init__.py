"""Availability: whether members reach each service, noted all the time and summed up by day."""
