from django.db import migrations

from migrations.deployments import _touched


class Migration(migrations.Migration):
    """A ban's direction reaches the gateways, its comment does not any more; allow entries are objects of their own."""

    dependencies = [("deployments", "0006_ranges_and_pinholes"), ("bans", "0004_directions_and_allow_list")]
    operations = [
        *_touched.again("bans_ban", "id, list_id, prefix, expires, direction", "('ban', r.prefix::text)"),
        _touched.triggers("bans_allowentry", "id, prefix, expires", "('allowed', r.prefix::text)"),
    ]
