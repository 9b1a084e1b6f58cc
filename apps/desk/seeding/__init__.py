"""A network that could be real: people, their rooms, devices, addresses and forwards, the same for the same seed."""
