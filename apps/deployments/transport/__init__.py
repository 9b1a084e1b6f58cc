"""Transport to the agents: OpenSSH, the relay program on the other side, and a channel that stays open."""
