"""Joining: how a machine becomes a gateway, from a command to paste to the choice of its interfaces."""
