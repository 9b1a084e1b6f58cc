from django.db import migrations

from migrations.deployments._touched import again


class Migration(migrations.Migration):
    """A change of a forward touches its whole range of ports, before and after."""

    dependencies = [("deployments", "0004_touched"), ("nat", "0005_ranges_of_ports")]
    operations = [
        *again(
            "nat_portforward",
            "id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled",
            "('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port || ' ' || r.ports)",
        ),
    ]
