"""Which ports members open for themselves, by group of gateways."""
