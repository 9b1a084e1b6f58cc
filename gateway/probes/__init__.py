"""Probe packets that the prober sends: TCP handshakes and ICMP echoes, once on request, or in rounds all the time."""
