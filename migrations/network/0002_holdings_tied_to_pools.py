from django.db import migrations

TIE = """
ALTER TABLE network_holding ADD CONSTRAINT holding_of_pool
    FOREIGN KEY (pool_id, kind, group_id, pool_prefix)
    REFERENCES network_pool (id, kind, group_id, prefix) ON UPDATE CASCADE;
"""
UNTIE = "ALTER TABLE network_holding DROP CONSTRAINT holding_of_pool;"


class Migration(migrations.Migration):
    """What a holding repeats of its pool stays true: composite foreign keys, which the ORM cannot declare."""

    dependencies = [("network", "0001_pools_and_holdings")]
    operations = [migrations.RunSQL(TIE, UNTIE)]
