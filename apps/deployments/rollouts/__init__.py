"""Rollouts: opened, claimed under a lease, driven gateway by gateway, and shown while they run."""
