"""Transport to the agents: OpenSSH, the relay program at the far end, and a channel that stays open."""
