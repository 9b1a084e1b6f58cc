"""A member's way through the network: leaving, coming back, being forgotten, and what was kept of him."""
