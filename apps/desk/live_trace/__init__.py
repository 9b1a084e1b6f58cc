"""Live traces of packets in a gateway's kernel: from a question in people's words to a trace, and back to paths and fates."""
