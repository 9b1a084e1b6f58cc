from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0003_named_groups"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("sync", ""),
                    models.Q(("sync__in", [models.F("lan"), models.F("wan"), models.F("management")]), _negated=True),
                    _connector="OR",
                ),
                name="gateway_sync_differs",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("probe_interface", ""), models.Q(("probe_interface", models.F("sync")), _negated=True), _connector="OR"
                ),
                name="gateway_probe_is_not_sync",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("probe_public4", None), ("probe_source4", None)),
                    models.Q(
                        models.Q(
                            ("probe_source4__within", "10.0.0.0/8"),
                            ("probe_source4__within", "100.64.0.0/10"),
                            ("probe_source4__within", "172.16.0.0/12"),
                            ("probe_source4__within", "192.168.0.0/16"),
                            _connector="OR",
                        ),
                        models.Q(
                            ("probe_public4__within", "10.0.0.0/8"),
                            ("probe_public4__within", "100.64.0.0/10"),
                            ("probe_public4__within", "172.16.0.0/12"),
                            ("probe_public4__within", "192.168.0.0/16"),
                            _connector="OR",
                            _negated=True,
                        ),
                    ),
                    _connector="OR",
                ),
                name="gateway_probe_leaves_as_public",
            ),
        ),
    ]
