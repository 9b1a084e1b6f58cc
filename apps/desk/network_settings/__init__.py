"""The settings of the network as people change them: their page and their API."""
