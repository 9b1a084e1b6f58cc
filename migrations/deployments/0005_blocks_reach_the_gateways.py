from django.db import migrations

from migrations.deployments._touched import again


class Migration(migrations.Migration):
    """How a mapping shares its address, and which ports it has, reach the gateways."""

    dependencies = [("deployments", "0004_touched"), ("nat", "0004_blocks_and_claims")]
    operations = again("nat_natmapping", "id, holding_id, public, sharing, block, valid", "('holding', r.holding_id::text)")
