"""Members whose rate is limited for a time: why, how fast, until when; and the switch that ends it for all."""
