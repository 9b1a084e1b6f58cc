"""Seeding of a realistic network: people, rooms, devices, addresses and forwards. The same seed gives the same network.

Services add what people add one by one. Rows by the thousand are copied, and are such that the API would take each of them
(tests/db/test_seed_again.py). Only the past is written directly, because nobody can enter it: usage, and old tickets.
"""
