"""Reads a gateway's health: cores, links, counters and levels of its machine. Reads; changes nothing.

Everything is read in the network namespace of the calling thread. What a kernel does not tell is left out.
"""
