"""Blocks of members: reason and end, what blocked members still reach, and the notice page that informs them."""
