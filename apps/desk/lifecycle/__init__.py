"""A member's way through the network: leaving, coming back, being forgotten, and what is kept of them."""
