from django.db import migrations

TIE = """
ALTER TABLE {table} ADD CONSTRAINT {name}_of_holding
    FOREIGN KEY (holding_id, kind, group_id, held)
    REFERENCES network_holding (id, kind, group_id, valid) ON UPDATE CASCADE;
ALTER TABLE {table} ADD CONSTRAINT {name}_of_pool
    FOREIGN KEY (pool_id, pool_kind, group_id, pool_prefix)
    REFERENCES network_pool (id, kind, group_id, prefix) ON UPDATE CASCADE;
"""
UNTIE = "ALTER TABLE {table} DROP CONSTRAINT {name}_of_holding, DROP CONSTRAINT {name}_of_pool;"


def tie(name: str) -> migrations.RunSQL:
    table = f"nat_{name}"
    return migrations.RunSQL(TIE.format(table=table, name=name), UNTIE.format(table=table, name=name))


class Migration(migrations.Migration):
    """Mappings and forwards lie inside their holding, its time, and a public pool of the same group."""

    dependencies = [("nat", "0001_mappings_and_forwards"), ("network", "0002_holdings_tied_to_pools")]
    operations = [tie("natmapping"), tie("portforward")]
