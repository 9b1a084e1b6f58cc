"""Seeding of a realistic network: people, rooms, devices, addresses and forwards. The same seed gives the same network."""
