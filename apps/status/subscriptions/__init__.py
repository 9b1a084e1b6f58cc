"""Subscriptions: people outside the portal who get updates by mail, after they have confirmed their address."""
