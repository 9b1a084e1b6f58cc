"""Rules, by gateway group, for the ports that members may open themselves."""
