"""Of each kind of object that reaches the gateways: how rows become values of `firewall.policy`."""
