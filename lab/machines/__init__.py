"""Virtual machines as gateways: Debian 12 and Debian 13 with their own kernels, in place of the lab's two gateway nodes."""
