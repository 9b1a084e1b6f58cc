from django.db import migrations

from migrations.deployments._touched import again, times, triggers


class Migration(migrations.Migration):
    """A change of a forward touches its whole range of ports, before and after; pinholes touch what they open."""

    dependencies = [("deployments", "0005_blocks_reach_the_gateways"), ("nat", "0006_pinholes")]
    operations = [
        *again(
            "nat_portforward",
            "id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled",
            "('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port || ' ' || r.ports)",
        ),
        triggers(
            "nat_pinhole",
            "id, holding_id, address, protocol, port, ports, valid, enabled",
            "('pinhole', host(r.address) || ' ' || r.protocol || ' ' || r.port || ' ' || r.ports)",
        ),
        times("nat_pinhole", "pinhole"),
    ]
