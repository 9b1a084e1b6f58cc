"""Collects evidence on a gateway: what its machine shows at one moment. Reads; changes nothing, and keeps no payload of a packet.

Each part is collected by itself, within a limit of octets and of seconds. Everything is read in the network namespace of the calling
thread.
"""
