"""Evidence of gateways: archives of what their machines and the portal showed at one moment, asked for by people or before a step back."""
