from django.db import migrations

from migrations.deployments._touched import again


class Migration(migrations.Migration):
    """Whether a listener is guarded, and with which window scale, reaches the gateways too."""

    dependencies = [("deployments", "0011_rate_limits"), ("bans", "0008_guarded_listeners")]
    operations = again(
        "bans_listener",
        "id, group_id, name, address, protocol, port, guarded, window_scale, enabled",
        "('listener', r.protocol || ' ' || host(r.address) || ' ' || r.port)",
    )
