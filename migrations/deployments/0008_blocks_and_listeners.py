from django.db import migrations

from migrations.deployments._touched import times, triggers


class Migration(migrations.Migration):
    """Blocks touch all that their member holds; listeners, where they listen."""

    dependencies = [("deployments", "0007_touched_bans"), ("bans", "0007_listeners")]
    operations = [
        triggers("bans_block", "id, member_id, valid", "('member', r.member_id::text)"),
        times("bans_block", "block"),
        triggers(
            "bans_listener",
            "id, group_id, name, address, protocol, port, enabled",
            "('listener', r.protocol || ' ' || host(r.address) || ' ' || r.port)",
        ),
    ]
