"""Fair share: rate limits for the heaviest members of the last minutes, while a group's uplink is full."""
