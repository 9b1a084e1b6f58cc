import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.math
import django.db.models.lookups
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields

# A holding lies in its pool, and is of its kind and group.
TIE = """
ALTER TABLE network_holding ADD CONSTRAINT holding_of_pool
    FOREIGN KEY (pool_id, kind, group_id, pool_prefix)
    REFERENCES network_pool (id, kind, group_id, prefix) ON UPDATE CASCADE;
"""
UNTIE = "ALTER TABLE network_holding DROP CONSTRAINT holding_of_pool;"
# The foreign keys of mappings and forwards ask for a holding by its id, kind, group and time. PostgreSQL takes every range for unique
# (range_typanalyze), and then asks the exclusion constraint's index for the time alone, which walks all of it: 7 ms at 23,000 holdings
# instead of 0.06.
BY_IDENTITY = "ALTER TABLE network_holding ALTER COLUMN valid SET (n_distinct = 100); ANALYZE network_holding;"
NOT_BY_IDENTITY = "ALTER TABLE network_holding ALTER COLUMN valid RESET (n_distinct);"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("lib", "0001_initial"),
        ("members", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.CreateModel(
            name="GatewayGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40, unique=True, verbose_name="name")),
                (
                    "confirm_within",
                    models.PositiveSmallIntegerField(default=30, verbose_name="seconds until a gateway reverts an unconfirmed change"),
                ),
                ("goes_on", models.BooleanField(default=True, verbose_name="go on without a gateway that does not answer")),
                ("heals_drift", models.BooleanField(default=True, verbose_name="put right what was changed by hand on a gateway")),
                ("removal_least", models.PositiveIntegerField(default=10, verbose_name="number of removals from which this applies")),
                (
                    "removal_share",
                    models.PositiveSmallIntegerField(
                        default=20, verbose_name="share of removals above which a second person must agree, in percent"
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("probe_port", models.PositiveIntegerField(blank=True, null=True, verbose_name="TCP port to probe")),
                ("probe_target4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv4 address to probe")),
                ("probe_target6", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address to probe")),
                ("clamp_mss", models.BooleanField(default=False, verbose_name="clamp the TCP segment size (MSS) to the uplink")),
                (
                    "flood_mode",
                    models.BooleanField(default=False, verbose_name="flood mode: drop banned sources before connection tracking"),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("confirm_within__range", (5, 600))), name="gatewaygroup_confirm_within"),
                    models.CheckConstraint(condition=models.Q(("removal_share__range", (0, 100))), name="gatewaygroup_removal_share"),
                    models.CheckConstraint(condition=models.Q(("removal_least__gte", 1)), name="gatewaygroup_removal_least"),
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.Exact(
                                models.Func(models.F("probe_target4"), function="family", output_field=models.IntegerField()), 4
                            )
                        ),
                        name="group_probe_target4_is_ipv4",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.Exact(
                                models.Func(models.F("probe_target6"), function="family", output_field=models.IntegerField()), 6
                            )
                        ),
                        name="group_probe_target6_is_ipv6",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("probe_port", None), ("probe_target4", None), ("probe_target6", None)),
                            models.Q(
                                ("probe_port__isnull", False),
                                ("probe_port__range", (1, 65535)),
                                models.Q(("probe_target4__isnull", False), ("probe_target6__isnull", False), _connector="OR"),
                            ),
                            _connector="OR",
                        ),
                        name="group_probe_target_has_port",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Uplink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="upload capacity")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="download capacity")),
                ("limits_rates", models.BooleanField(default=True, verbose_name="limit rates")),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="uplink", to="network.gatewaygroup"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("up_kbit", None), ("up_kbit__gte", 64), _connector="OR"), name="uplink_up_kbit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("down_kbit", None), ("down_kbit__gte", 64), _connector="OR"), name="uplink_down_kbit"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UplinkEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="upload capacity")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="download capacity")),
                ("limits_rates", models.BooleanField(default=True, verbose_name="limit rates")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.uplink"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="GatewayGroupEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=40, verbose_name="name")),
                ("goes_on", models.BooleanField(default=True, verbose_name="go on without a gateway that does not answer")),
                ("heals_drift", models.BooleanField(default=True, verbose_name="put right what was changed by hand on a gateway")),
                (
                    "confirm_within",
                    models.PositiveSmallIntegerField(default=30, verbose_name="seconds until a gateway reverts an unconfirmed change"),
                ),
                (
                    "removal_share",
                    models.PositiveSmallIntegerField(
                        default=20, verbose_name="share of removals above which a second person must agree, in percent"
                    ),
                ),
                ("removal_least", models.PositiveIntegerField(default=10, verbose_name="number of removals from which this applies")),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="network.gatewaygroup",
                    ),
                ),
                ("probe_port", models.PositiveIntegerField(blank=True, null=True, verbose_name="TCP port to probe")),
                ("probe_target4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv4 address to probe")),
                ("probe_target6", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address to probe")),
                ("clamp_mss", models.BooleanField(default=False, verbose_name="clamp the TCP segment size (MSS) to the uplink")),
                (
                    "flood_mode",
                    models.BooleanField(default=False, verbose_name="flood mode: drop banned sources before connection tracking"),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Gateway",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=40, unique=True, verbose_name="name")),
                (
                    "link",
                    models.CharField(
                        choices=[("ssh", "ssh"), ("lab", "lab on this machine"), ("local", "in memory on this machine")],
                        max_length=8,
                        verbose_name="reached by",
                    ),
                ),
                ("lan", models.CharField(max_length=15, verbose_name="inside interface")),
                ("wan", models.CharField(max_length=15, verbose_name="outside interface")),
                ("management", models.CharField(max_length=15, verbose_name="management interface")),
                ("sync", models.CharField(blank=True, max_length=15, verbose_name="state sync interface")),
                (
                    "management_networks",
                    django.contrib.postgres.fields.ArrayField(base_field=apps.lib.fields.PrefixField(), verbose_name="management networks"),
                ),
                ("management_port", models.PositiveIntegerField(default=22, verbose_name="management port")),
                ("carries4", models.BooleanField(default=False, verbose_name="IPv4 primary")),
                ("carries6", models.BooleanField(default=False, verbose_name="IPv6 primary")),
                (
                    "group",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="gateways", to="network.gatewaygroup"),
                ),
                ("address", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="management address")),
                ("host_key", models.TextField(blank=True, default="", verbose_name="ssh host key")),
                ("ssh_user", models.CharField(default="netzwart", max_length=32, verbose_name="ssh account")),
                ("probe_interface", models.CharField(blank=True, default="", max_length=15, verbose_name="probe interface")),
                ("probe_public4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="public IPv4 address of the probe")),
                ("probe_source4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="private IPv4 address of the probe")),
                ("probe_source6", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address of the probe")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("carries4", True)), fields=("group",), name="gateway_one_ipv4_primary_per_group"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("carries6", True)), fields=("group",), name="gateway_one_ipv6_primary_per_group"
                    ),
                    models.CheckConstraint(condition=models.Q(("management_networks__len__gt", 0)), name="gateway_has_management_networks"),
                    models.CheckConstraint(condition=models.Q(("management_port__range", (1, 65535))), name="gateway_management_port"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lan", models.F("wan")), _negated=True),
                            models.Q(("lan", models.F("management")), _negated=True),
                            models.Q(("wan", models.F("management")), _negated=True),
                        ),
                        name="gateway_interfaces_differ",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("link", "ssh"), _negated=True),
                            models.Q(("address__isnull", False), models.Q(("host_key", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="gateway_reached_by_ssh",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("host_key", ""),
                            ("host_key__regex", "^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$"),
                            _connector="OR",
                        ),
                        name="gateway_host_key",
                    ),
                    models.CheckConstraint(condition=models.Q(("ssh_user__regex", "^[a-z_][a-z0-9_-]{0,31}$")), name="gateway_ssh_user"),
                    models.UniqueConstraint(fields=("probe_source4",), name="gateway_probe_source4_of_one"),
                    models.UniqueConstraint(fields=("probe_public4",), name="gateway_probe_public4_of_one"),
                    models.UniqueConstraint(fields=("probe_source6",), name="gateway_probe_source6_of_one"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("probe_public4", None), ("probe_source4", None)),
                            models.Q(
                                ("probe_public4__isnull", False),
                                ("probe_source4__isnull", False),
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("probe_source4"), function="family", output_field=models.IntegerField()), 4
                                ),
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("probe_public4"), function="family", output_field=models.IntegerField()), 4
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="gateway_probe_ipv4_is_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.Exact(
                                models.Func(models.F("probe_source6"), function="family", output_field=models.IntegerField()), 6
                            )
                        ),
                        name="gateway_probe_source6_is_ipv6",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("probe_interface", ""), ("probe_source4", None), ("probe_source6", None)),
                            models.Q(
                                models.Q(("probe_interface", ""), _negated=True),
                                models.Q(("probe_source4__isnull", False), ("probe_source6__isnull", False), _connector="OR"),
                            ),
                            _connector="OR",
                        ),
                        name="gateway_probe_has_interface",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("probe_interface__in", [models.F("lan"), models.F("wan"), models.F("management")]), _negated=True
                        ),
                        name="gateway_probe_interface_differs",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GatewayEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=40, verbose_name="name")),
                (
                    "link",
                    models.CharField(
                        choices=[("ssh", "ssh"), ("lab", "lab on this machine"), ("local", "in memory on this machine")],
                        max_length=8,
                        verbose_name="reached by",
                    ),
                ),
                ("lan", models.CharField(max_length=15, verbose_name="inside interface")),
                ("wan", models.CharField(max_length=15, verbose_name="outside interface")),
                ("management", models.CharField(max_length=15, verbose_name="management interface")),
                ("sync", models.CharField(blank=True, max_length=15, verbose_name="state sync interface")),
                (
                    "management_networks",
                    django.contrib.postgres.fields.ArrayField(base_field=apps.lib.fields.PrefixField(), verbose_name="management networks"),
                ),
                ("management_port", models.PositiveIntegerField(default=22, verbose_name="management port")),
                ("carries4", models.BooleanField(default=False, verbose_name="IPv4 primary")),
                ("carries6", models.BooleanField(default=False, verbose_name="IPv6 primary")),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.gateway"
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                ("address", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="management address")),
                ("host_key", models.TextField(blank=True, default="", verbose_name="ssh host key")),
                ("ssh_user", models.CharField(default="netzwart", max_length=32, verbose_name="ssh account")),
                ("probe_interface", models.CharField(blank=True, default="", max_length=15, verbose_name="probe interface")),
                ("probe_public4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="public IPv4 address of the probe")),
                ("probe_source4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="private IPv4 address of the probe")),
                ("probe_source6", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address of the probe")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Pool",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("private4", "private IPv4"), ("public4", "public IPv4"), ("prefix6", "IPv6 prefixes")],
                        max_length=8,
                        verbose_name="kind",
                    ),
                ),
                ("name", models.CharField(max_length=60, unique=True, verbose_name="name")),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="prefix")),
                ("member_length", models.PositiveSmallIntegerField(default=32, verbose_name="prefix length per member")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="pools", to="network.gatewaygroup")),
                ("block_size", models.PositiveIntegerField(blank=True, null=True, verbose_name="ports per block")),
                (
                    "sharing",
                    models.CharField(
                        choices=[
                            ("own", "each member has an address of their own"),
                            ("shared", "members share the addresses"),
                            ("blocks", "members share the addresses, each has a block of ports"),
                        ],
                        db_default="shared",
                        default="shared",
                        max_length=8,
                        verbose_name="how members use it",
                    ),
                ),
            ],
            options={
                "ordering": ["kind", "prefix"],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[(django.contrib.postgres.indexes.OpClass("prefix", "inet_ops"), "&&")], name="pool_overlaps"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "prefix6"), ("member_length__range", (32, 64))),
                            models.Q(("kind__in", ["private4", "public4"]), ("member_length", 32)),
                            _connector="OR",
                        ),
                        name="pool_member_length",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 6
                                ),
                                ("kind", "prefix6"),
                            ),
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 4
                                ),
                                ("kind__in", ["private4", "public4"]),
                            ),
                            _connector="OR",
                        ),
                        name="pool_family_fits_kind",
                    ),
                    models.CheckConstraint(condition=models.Q(("sharing__in", ["own", "shared", "blocks"])), name="pool_sharing"),
                    models.CheckConstraint(
                        condition=models.Q(("kind", "public4"), ("sharing", "shared"), _connector="OR"), name="pool_shared_where_public"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("block_size__in", (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)),
                                ("block_size__isnull", False),
                                ("sharing", "blocks"),
                            ),
                            models.Q(models.Q(("sharing", "blocks"), _negated=True), ("block_size", None)),
                            _connector="OR",
                        ),
                        name="pool_block_size",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PoolEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("private4", "private IPv4"), ("public4", "public IPv4"), ("prefix6", "IPv6 prefixes")],
                        max_length=8,
                        verbose_name="kind",
                    ),
                ),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="prefix")),
                ("member_length", models.PositiveSmallIntegerField(default=32, verbose_name="prefix length per member")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.pool"
                    ),
                ),
                ("block_size", models.PositiveIntegerField(blank=True, null=True, verbose_name="ports per block")),
                (
                    "sharing",
                    models.CharField(
                        choices=[
                            ("own", "each member has an address of their own"),
                            ("shared", "members share the addresses"),
                            ("blocks", "members share the addresses, each has a block of ports"),
                        ],
                        db_default="shared",
                        default="shared",
                        max_length=8,
                        verbose_name="how members use it",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Holding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("private4", "private IPv4"), ("public4", "public IPv4"), ("prefix6", "IPv6 prefixes")], max_length=8
                    ),
                ),
                ("pool_prefix", apps.lib.fields.PrefixField()),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="address")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "device",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="holdings", to="members.device"
                    ),
                ),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="network.gatewaygroup")),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="holdings", to="members.member")),
                ("pool", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="holdings", to="network.pool")),
            ],
            options={
                "ordering": ["kind", "prefix"],
                "indexes": [models.Index(fields=["kind", "prefix"], name="holding_by_prefix")],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[(django.contrib.postgres.indexes.OpClass("prefix", "inet_ops"), "&&"), ("valid", "&&")],
                        name="holding_address_held_twice",
                    ),
                    models.CheckConstraint(condition=models.Q(("kind__in", ["private4", "prefix6"])), name="holding_kind"),
                    models.CheckConstraint(condition=models.Q(("prefix__within", models.F("pool_prefix"))), name="holding_within_pool"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 4
                                ),
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), 32
                                ),
                            ),
                            django.db.models.lookups.Exact(
                                models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 6
                            ),
                            _connector="OR",
                        ),
                        name="holding_ipv4_is_one_address",
                    ),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="holding_valid_some_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="HoldingEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("private4", "private IPv4"), ("public4", "public IPv4"), ("prefix6", "IPv6 prefixes")], max_length=8
                    ),
                ),
                ("pool_prefix", apps.lib.fields.PrefixField()),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="address")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "device",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.device",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.member",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.holding"
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.pool",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Protection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("bogons", models.BooleanField(default=False, verbose_name="refuse addresses that cannot be on the internet")),
                (
                    "own",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="except these"
                    ),
                ),
                (
                    "bgp_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="BGP neighbours"
                    ),
                ),
                (
                    "ospf_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="OSPF neighbours"
                    ),
                ),
                (
                    "ftp_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="FTP ports"
                    ),
                ),
                (
                    "sip_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="SIP ports"
                    ),
                ),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="protection", to="network.gatewaygroup"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ftp_ports__len__lte", 16), ("sip_ports__len__lte", 16)), name="protection_few_helper_ports"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProtectionEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("bogons", models.BooleanField(default=False, verbose_name="refuse addresses that cannot be on the internet")),
                (
                    "own",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="except these"
                    ),
                ),
                (
                    "bgp_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="BGP neighbours"
                    ),
                ),
                (
                    "ospf_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="OSPF neighbours"
                    ),
                ),
                (
                    "ftp_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="FTP ports"
                    ),
                ),
                (
                    "sip_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="SIP ports"
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.protection"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Limits",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("member_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of a member per second")),
                ("member_burst", models.PositiveIntegerField(default=100, verbose_name="burst")),
                ("member_open", models.PositiveIntegerField(default=0, verbose_name="open connections of a member")),
                ("source_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of an external address per second")),
                ("source_burst", models.PositiveIntegerField(default=100, verbose_name="burst")),
                ("source_open", models.PositiveIntegerField(default=0, verbose_name="open connections of an external address")),
                (
                    "mail_rate",
                    models.PositiveIntegerField(default=0, verbose_name="connections of a member to mail servers (port 25) per minute"),
                ),
                ("refuses", models.BooleanField(default=True, verbose_name="refuse excess connections instead of dropping them silently")),
                (
                    "exempt",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="exempt networks"
                    ),
                ),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="limits", to="network.gatewaygroup"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("mail_rate__lte", 100000), ("member_rate__lte", 100000), ("source_rate__lte", 100000)),
                        name="limits_rates",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("member_burst__range", (1, 100000)), ("source_burst__range", (1, 100000))), name="limits_bursts"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("member_open__lte", 1000000), ("source_open__lte", 1000000)), name="limits_open"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LimitsEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("member_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of a member per second")),
                ("member_burst", models.PositiveIntegerField(default=100, verbose_name="burst")),
                ("member_open", models.PositiveIntegerField(default=0, verbose_name="open connections of a member")),
                ("source_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of an external address per second")),
                ("source_burst", models.PositiveIntegerField(default=100, verbose_name="burst")),
                ("source_open", models.PositiveIntegerField(default=0, verbose_name="open connections of an external address")),
                (
                    "mail_rate",
                    models.PositiveIntegerField(default=0, verbose_name="connections of a member to mail servers (port 25) per minute"),
                ),
                ("refuses", models.BooleanField(default=True, verbose_name="refuse excess connections instead of dropping them silently")),
                (
                    "exempt",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="exempt networks"
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.limits"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("managed", models.BooleanField(default=True, verbose_name="set by Netzwart")),
                ("connections", models.PositiveIntegerField(default=524288, verbose_name="connections, at most")),
                ("buckets", models.PositiveIntegerField(default=524288, verbose_name="buckets of the connection table")),
                ("tcp_established", models.PositiveIntegerField(default=7440, verbose_name="open TCP connections, seconds")),
                ("tcp_syn_sent", models.PositiveIntegerField(default=60, verbose_name="unanswered TCP connections, seconds")),
                ("tcp_fin_wait", models.PositiveIntegerField(default=120, verbose_name="TCP connections that one side ended, seconds")),
                ("tcp_close_wait", models.PositiveIntegerField(default=60, verbose_name="TCP connections half closed, seconds")),
                ("tcp_time_wait", models.PositiveIntegerField(default=60, verbose_name="TCP connections that both ended, seconds")),
                ("udp", models.PositiveIntegerField(default=30, verbose_name="UDP, question and answer, seconds")),
                ("udp_stream", models.PositiveIntegerField(default=300, verbose_name="UDP in both directions, seconds")),
                ("icmp", models.PositiveIntegerField(default=60, verbose_name="ping, seconds")),
                ("generic", models.PositiveIntegerField(default=600, verbose_name="other protocols, seconds")),
                ("tcp_loose", models.BooleanField(default=True, verbose_name="pick up established TCP connections")),
                ("first_port", models.PositiveIntegerField(default=32768, verbose_name="first port of the gateway’s own connections")),
                ("last_port", models.PositiveIntegerField(default=60999, verbose_name="last port of the gateway’s own connections")),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="profile", to="network.gatewaygroup"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("buckets__range", (8192, 8388608)),
                            ("connections__range", (4096, 16777216)),
                            ("first_port__range", (1024, 65535)),
                            ("generic__range", (30, 86400)),
                            ("icmp__range", (1, 300)),
                            ("last_port__range", (1024, 65535)),
                            ("tcp_close_wait__range", (5, 600)),
                            ("tcp_established__range", (300, 432000)),
                            ("tcp_fin_wait__range", (5, 600)),
                            ("tcp_syn_sent__range", (5, 600)),
                            ("tcp_time_wait__range", (1, 600)),
                            ("udp__range", (10, 600)),
                            ("udp_stream__range", (30, 3600)),
                        ),
                        name="profile_limits",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.Exact(django.db.models.functions.math.Mod("buckets", 8192), 0),
                            (
                                "connections__lte",
                                django.db.models.expressions.CombinedExpression(models.F("buckets"), "*", models.Value(8)),
                            ),
                        ),
                        name="profile_buckets",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "last_port__gte",
                                django.db.models.expressions.CombinedExpression(models.F("first_port"), "+", models.Value(1023)),
                            )
                        ),
                        name="profile_ports",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProfileEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("managed", models.BooleanField(default=True, verbose_name="set by Netzwart")),
                ("connections", models.PositiveIntegerField(default=524288, verbose_name="connections, at most")),
                ("buckets", models.PositiveIntegerField(default=524288, verbose_name="buckets of the connection table")),
                ("tcp_established", models.PositiveIntegerField(default=7440, verbose_name="open TCP connections, seconds")),
                ("tcp_syn_sent", models.PositiveIntegerField(default=60, verbose_name="unanswered TCP connections, seconds")),
                ("tcp_fin_wait", models.PositiveIntegerField(default=120, verbose_name="TCP connections that one side ended, seconds")),
                ("tcp_close_wait", models.PositiveIntegerField(default=60, verbose_name="TCP connections half closed, seconds")),
                ("tcp_time_wait", models.PositiveIntegerField(default=60, verbose_name="TCP connections that both ended, seconds")),
                ("udp", models.PositiveIntegerField(default=30, verbose_name="UDP, question and answer, seconds")),
                ("udp_stream", models.PositiveIntegerField(default=300, verbose_name="UDP in both directions, seconds")),
                ("icmp", models.PositiveIntegerField(default=60, verbose_name="ping, seconds")),
                ("generic", models.PositiveIntegerField(default=600, verbose_name="other protocols, seconds")),
                ("tcp_loose", models.BooleanField(default=True, verbose_name="pick up established TCP connections")),
                ("first_port", models.PositiveIntegerField(default=32768, verbose_name="first port of the gateway’s own connections")),
                ("last_port", models.PositiveIntegerField(default=60999, verbose_name="last port of the gateway’s own connections")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.profile"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Gauge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("used", models.PositiveIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="gauges", to="network.gateway")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("gateway", "name"), name="gauge_of_one_set")],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("clamp_mss", "confirm_within", "flood_mode", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "version") SELECT new_values."clamp_mss", new_values."confirm_within", new_values."flood_mode", new_values."goes_on", new_values."heals_drift", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."probe_port", new_values."probe_target4", new_values."probe_target6", new_values."removal_least", new_values."removal_share", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="23ef2216e507e79699589e6bdfe77c22d091047d",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_fe8f6",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_gatewaygroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "network_gatewaygroupevent" ("clamp_mss", "confirm_within", "flood_mode", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "version") VALUES (NEW."clamp_mss", NEW."confirm_within", NEW."flood_mode", NEW."goes_on", NEW."heals_drift", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."probe_port", NEW."probe_target4", NEW."probe_target6", NEW."removal_least", NEW."removal_share", NEW."version"); RETURN NULL;',
                    hash="33ad52dec31baee2995afc760f62d8b3a54e7be7",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_8186a",
                    table="network_gatewaygroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("clamp_mss", "confirm_within", "flood_mode", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "version") SELECT old_values."clamp_mss", old_values."confirm_within", old_values."flood_mode", old_values."goes_on", old_values."heals_drift", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."probe_port", old_values."probe_target4", old_values."probe_target6", old_values."removal_least", old_values."removal_share", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="0bf404a48efe6c4b9bba042806b2444475636999",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_2161e",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_gatewaygroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="b64a09b28fd836ee7f78bde48a885057a696e580",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_be5d6",
                    table="network_uplink",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_uplinkevent" ("down_kbit", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "up_kbit", "version") SELECT new_values."down_kbit", new_values."group_id", new_values."id", new_values."limits_rates", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="cd51dd89da8bb524d8f4602bb62275cc3fc22554",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_781dd",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_uplink",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."down_kbit" IS DISTINCT FROM (NEW."down_kbit") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."limits_rates" IS DISTINCT FROM (NEW."limits_rates") OR OLD."up_kbit" IS DISTINCT FROM (NEW."up_kbit") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_uplinkevent" ("down_kbit", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "up_kbit", "version") VALUES (NEW."down_kbit", NEW."group_id", NEW."id", NEW."limits_rates", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."up_kbit", NEW."version"); RETURN NULL;',
                    hash="0580447988af39b3b55919b727a8416600c0fff0",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_46f09",
                    table="network_uplink",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_uplinkevent" ("down_kbit", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "up_kbit", "version") SELECT old_values."down_kbit", old_values."group_id", old_values."id", old_values."limits_rates", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="528acc44a8f3d35f17f2d26767153e929c0bce35",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f3d20",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_uplink",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "ssh_user", "sync", "version", "wan") SELECT new_values."address", new_values."carries4", new_values."carries6", new_values."group_id", new_values."host_key", new_values."id", new_values."lan", new_values."link", new_values."management", new_values."management_networks", new_values."management_port", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."probe_interface", new_values."probe_public4", new_values."probe_source4", new_values."probe_source6", new_values."ssh_user", new_values."sync", new_values."version", new_values."wan" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="8f3910d67bbea76cf5ed70e226431b245d6810f0",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_c1e88",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "ssh_user", "sync", "version", "wan") VALUES (NEW."address", NEW."carries4", NEW."carries6", NEW."group_id", NEW."host_key", NEW."id", NEW."lan", NEW."link", NEW."management", NEW."management_networks", NEW."management_port", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."probe_interface", NEW."probe_public4", NEW."probe_source4", NEW."probe_source6", NEW."ssh_user", NEW."sync", NEW."version", NEW."wan"); RETURN NULL;',
                    hash="a70c3fa528e1e53d3cbc0855076a819bfbb2690e",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_62340",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "ssh_user", "sync", "version", "wan") SELECT old_values."address", old_values."carries4", old_values."carries6", old_values."group_id", old_values."host_key", old_values."id", old_values."lan", old_values."link", old_values."management", old_values."management_networks", old_values."management_port", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."probe_interface", old_values."probe_public4", old_values."probe_source4", old_values."probe_source6", old_values."ssh_user", old_values."sync", old_values."version", old_values."wan" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="f54be0eab450b98d6fa9524e1ff54e0b90ad6ef2",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_7182d",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "sharing", "version") SELECT new_values."block_size", new_values."group_id", new_values."id", new_values."kind", new_values."member_length", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."prefix", new_values."sharing", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="91536e148d19a1bc46a152f45c7494fdcff0cab0",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_e8f4d",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_pool",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "sharing", "version") VALUES (NEW."block_size", NEW."group_id", NEW."id", NEW."kind", NEW."member_length", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."prefix", NEW."sharing", NEW."version"); RETURN NULL;',
                    hash="62f979a7788fced30be4c689253198572564bb9d",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c8e08",
                    table="network_pool",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "sharing", "version") SELECT old_values."block_size", old_values."group_id", old_values."id", old_values."kind", old_values."member_length", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."prefix", old_values."sharing", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="8e3af3525630387ffa6f787b70cf51814b319a9b",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_c2eea",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_pool",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="holding",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="5faa33e9b318bff69016151bc98e670de0dc5599",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_1032f",
                    table="network_holding",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="holding",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_holdingevent" ("device_id", "group_id", "id", "kind", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_prefix", "prefix", "valid") SELECT new_values."device_id", new_values."group_id", new_values."id", new_values."kind", new_values."member_id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."pool_id", new_values."pool_prefix", new_values."prefix", new_values."valid" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="9333e5478cb216d851037fb2e52637d47c713d4c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a70c2",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_holding",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="holding",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."device_id" IS DISTINCT FROM (NEW."device_id") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."pool_prefix" IS DISTINCT FROM (NEW."pool_prefix") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."valid" IS DISTINCT FROM (NEW."valid"))',
                    func='INSERT INTO "network_holdingevent" ("device_id", "group_id", "id", "kind", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_prefix", "prefix", "valid") VALUES (NEW."device_id", NEW."group_id", NEW."id", NEW."kind", NEW."member_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."pool_id", NEW."pool_prefix", NEW."prefix", NEW."valid"); RETURN NULL;',
                    hash="2b280ed5f970f82df556cff923b0d7b473a17a40",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_e1577",
                    table="network_holding",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="holding",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_holdingevent" ("device_id", "group_id", "id", "kind", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_prefix", "prefix", "valid") SELECT old_values."device_id", old_values."group_id", old_values."id", old_values."kind", old_values."member_id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."pool_id", old_values."pool_prefix", old_values."prefix", old_values."valid" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="1074ac8a6297c2dc41fddf7fa0c9752800430df4",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_a3f74",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_holding",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="9dd50f924971d3d4602b1b591337c8b49f04761e",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_e24e5",
                    table="network_protection",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") SELECT new_values."bgp_peers", new_values."bogons", new_values."ftp_ports", new_values."group_id", new_values."id", new_values."ospf_peers", new_values."own", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."sip_ports", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2d4e081f7d0117f7d723db95391cd4befb9f762a",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_92d85",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_protection",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."bgp_peers" IS DISTINCT FROM (NEW."bgp_peers") OR OLD."bogons" IS DISTINCT FROM (NEW."bogons") OR OLD."ftp_ports" IS DISTINCT FROM (NEW."ftp_ports") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."ospf_peers" IS DISTINCT FROM (NEW."ospf_peers") OR OLD."own" IS DISTINCT FROM (NEW."own") OR OLD."sip_ports" IS DISTINCT FROM (NEW."sip_ports") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") VALUES (NEW."bgp_peers", NEW."bogons", NEW."ftp_ports", NEW."group_id", NEW."id", NEW."ospf_peers", NEW."own", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."sip_ports", NEW."version"); RETURN NULL;',
                    hash="175c5472631a43269fb1bb1f0613180f9c2f5b3e",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_25f99",
                    table="network_protection",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") SELECT old_values."bgp_peers", old_values."bogons", old_values."ftp_ports", old_values."group_id", old_values."id", old_values."ospf_peers", old_values."own", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."sip_ports", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="9bca9b261ed9f5116a2b76d9c64bccba81f06679",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_bb881",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_protection",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="43d47838f7bd05e7e451a45b10f03b5dabd97a7f",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_a4b8e",
                    table="network_limits",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") SELECT new_values."exempt", new_values."group_id", new_values."id", new_values."mail_rate", new_values."member_burst", new_values."member_open", new_values."member_rate", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."refuses", new_values."source_burst", new_values."source_open", new_values."source_rate", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="491a6fe4ff99300019f0b3ecf9d4e9a95b51bce3",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_00c56",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_limits",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."exempt" IS DISTINCT FROM (NEW."exempt") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."mail_rate" IS DISTINCT FROM (NEW."mail_rate") OR OLD."member_burst" IS DISTINCT FROM (NEW."member_burst") OR OLD."member_open" IS DISTINCT FROM (NEW."member_open") OR OLD."member_rate" IS DISTINCT FROM (NEW."member_rate") OR OLD."refuses" IS DISTINCT FROM (NEW."refuses") OR OLD."source_burst" IS DISTINCT FROM (NEW."source_burst") OR OLD."source_open" IS DISTINCT FROM (NEW."source_open") OR OLD."source_rate" IS DISTINCT FROM (NEW."source_rate") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") VALUES (NEW."exempt", NEW."group_id", NEW."id", NEW."mail_rate", NEW."member_burst", NEW."member_open", NEW."member_rate", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."refuses", NEW."source_burst", NEW."source_open", NEW."source_rate", NEW."version"); RETURN NULL;',
                    hash="02d83e8add0111aeeb72699c5923fe1357e84b68",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_426fa",
                    table="network_limits",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") SELECT old_values."exempt", old_values."group_id", old_values."id", old_values."mail_rate", old_values."member_burst", old_values."member_open", old_values."member_rate", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."refuses", old_values."source_burst", old_values."source_open", old_values."source_rate", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="695234b7c0a52e9411e581c588f69f9bbff78788",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_b0139",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_limits",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="profile",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="4889a0c9bce6952e4bffb85b3a4bd74713f13361",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_b3db6",
                    table="network_profile",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="profile",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_profileevent" ("buckets", "connections", "first_port", "generic", "group_id", "icmp", "id", "last_port", "managed", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tcp_close_wait", "tcp_established", "tcp_fin_wait", "tcp_loose", "tcp_syn_sent", "tcp_time_wait", "udp", "udp_stream", "version") SELECT new_values."buckets", new_values."connections", new_values."first_port", new_values."generic", new_values."group_id", new_values."icmp", new_values."id", new_values."last_port", new_values."managed", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."tcp_close_wait", new_values."tcp_established", new_values."tcp_fin_wait", new_values."tcp_loose", new_values."tcp_syn_sent", new_values."tcp_time_wait", new_values."udp", new_values."udp_stream", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="f9fc44b08caf93937305c8e86ab1645a9f847663",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_1e618",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_profile",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="profile",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."buckets" IS DISTINCT FROM (NEW."buckets") OR OLD."connections" IS DISTINCT FROM (NEW."connections") OR OLD."first_port" IS DISTINCT FROM (NEW."first_port") OR OLD."generic" IS DISTINCT FROM (NEW."generic") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."icmp" IS DISTINCT FROM (NEW."icmp") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."last_port" IS DISTINCT FROM (NEW."last_port") OR OLD."managed" IS DISTINCT FROM (NEW."managed") OR OLD."tcp_close_wait" IS DISTINCT FROM (NEW."tcp_close_wait") OR OLD."tcp_established" IS DISTINCT FROM (NEW."tcp_established") OR OLD."tcp_fin_wait" IS DISTINCT FROM (NEW."tcp_fin_wait") OR OLD."tcp_loose" IS DISTINCT FROM (NEW."tcp_loose") OR OLD."tcp_syn_sent" IS DISTINCT FROM (NEW."tcp_syn_sent") OR OLD."tcp_time_wait" IS DISTINCT FROM (NEW."tcp_time_wait") OR OLD."udp" IS DISTINCT FROM (NEW."udp") OR OLD."udp_stream" IS DISTINCT FROM (NEW."udp_stream") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_profileevent" ("buckets", "connections", "first_port", "generic", "group_id", "icmp", "id", "last_port", "managed", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tcp_close_wait", "tcp_established", "tcp_fin_wait", "tcp_loose", "tcp_syn_sent", "tcp_time_wait", "udp", "udp_stream", "version") VALUES (NEW."buckets", NEW."connections", NEW."first_port", NEW."generic", NEW."group_id", NEW."icmp", NEW."id", NEW."last_port", NEW."managed", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."tcp_close_wait", NEW."tcp_established", NEW."tcp_fin_wait", NEW."tcp_loose", NEW."tcp_syn_sent", NEW."tcp_time_wait", NEW."udp", NEW."udp_stream", NEW."version"); RETURN NULL;',
                    hash="d9e40d411205016b0a0badce18dae4adc08849d3",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_a503a",
                    table="network_profile",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="profile",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_profileevent" ("buckets", "connections", "first_port", "generic", "group_id", "icmp", "id", "last_port", "managed", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tcp_close_wait", "tcp_established", "tcp_fin_wait", "tcp_loose", "tcp_syn_sent", "tcp_time_wait", "udp", "udp_stream", "version") SELECT old_values."buckets", old_values."connections", old_values."first_port", old_values."generic", old_values."group_id", old_values."icmp", old_values."id", old_values."last_port", old_values."managed", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."tcp_close_wait", old_values."tcp_established", old_values."tcp_fin_wait", old_values."tcp_loose", old_values."tcp_syn_sent", old_values."tcp_time_wait", old_values."udp", old_values."udp_stream", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="a650dd8b56dd5f53bbc176b31eb65fa7f995e415",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_2b343",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_profile",
                    when="AFTER",
                ),
            ),
        ),
        # By themselves, for the foreign keys that lead to them: what stands in a model may be made only when the migration ends.
        migrations.AddConstraint("pool", models.UniqueConstraint(fields=("id", "kind", "group", "prefix"), name="pool_identity")),
        migrations.AddConstraint("holding", models.UniqueConstraint(fields=("id", "kind", "group", "valid"), name="holding_identity")),
        migrations.RunSQL(TIE, UNTIE),
        migrations.RunSQL(BY_IDENTITY, NOT_BY_IDENTITY),
    ]
