"""First steps: what is still missing between an empty database and a packet that a gateway forwards."""
