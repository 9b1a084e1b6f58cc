"""Members who move: another room, perhaps another address, on a day; what is open to them follows or ends."""
