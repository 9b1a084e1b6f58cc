"""What gateways run that the database lacks, as after the restore of an older one: as objects, with how to enter them."""
