"""Gateways and their groups, address pools, and the holdings of members over time."""

from functools import reduce
from operator import or_

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, DateTimeRangeField, RangeOperators
from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Mod
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.database.validity import build_validity_index
from apps.lib.fields import AddressField, PrefixField
from apps.lib.models import Deployed, Versioned
from apps.members.models import Device, Member
from apps.network.failover import Failover as Failover
from apps.network.uplink import Uplink as Uplink
from firewall import policy as firewall
from firewall.addresses import PRIVATE
from firewall.profile import BUCKETS_STEP, LEAST_PORTS, LIMITS, MOST_PER_BUCKET

# RFC 8709, section 4: 11 octets of name and 32 of key, each after its length, are 68 characters of base64
HOST_KEY = "^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$"
ACCOUNT = "^[a-z_][a-z0-9_-]{0,31}$"  # useradd(8)


def make_family_expression(expression: str) -> Func:
    """Make an expression for the IP version of an address or prefix: 4 or 6."""
    return Func(F(expression), function="family", output_field=models.IntegerField())


def make_length_expression(expression: str) -> Func:
    """Make an expression for the prefix length."""
    return Func(F(expression), function="masklen", output_field=models.IntegerField())


def _make_private_condition(expression: str) -> Q:
    """Make the condition that an IPv4 address is a private one."""
    return reduce(or_, (Q(**{f"{expression}__within": str(prefix)}) for prefix in PRIVATE))


@track_history()
class GatewayGroup(Versioned):
    """Gateways that stand in for each other and run the same policy, with the settings of their rollouts and probes.

    live_since: null until a person has gone live; until then, nothing is deployed to the group's gateways.
    """

    name = models.CharField(_("name"), max_length=40, unique=True)
    goes_on = models.BooleanField(_("go on without a gateway that does not answer"), default=True)
    heals_drift = models.BooleanField(_("put right what was changed by hand on a gateway"), default=True)
    confirm_within = models.PositiveSmallIntegerField(_("seconds until a gateway reverts an unconfirmed change"), default=30)
    removal_share = models.PositiveSmallIntegerField(_("share of removals above which a second person must agree, in percent"), default=20)
    removal_least = models.PositiveIntegerField(_("number of removals from which this applies"), default=10)
    clamp_mss = models.BooleanField(_("clamp the TCP segment size (MSS) to the uplink"), default=False)
    flood_mode = models.BooleanField(_("flood mode: drop banned sources before connection tracking"), default=False)
    probe_target4 = AddressField(_("IPv4 address to probe"), null=True, blank=True)
    probe_target6 = AddressField(_("IPv6 address to probe"), null=True, blank=True)
    probe_port = models.PositiveIntegerField(_("TCP port to probe"), null=True, blank=True)
    responder_port = models.PositiveIntegerField(_("TCP port of the responder"), null=True, blank=True)
    live_since = models.DateTimeField(_("live since"), null=True, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(name__regex=r"\S"), name="gatewaygroup_has_name"),
            models.CheckConstraint(condition=Q(confirm_within__range=(5, 600)), name="gatewaygroup_confirm_within"),
            models.CheckConstraint(condition=Q(removal_share__range=(0, 100)), name="gatewaygroup_removal_share"),
            models.CheckConstraint(condition=Q(removal_least__gte=1), name="gatewaygroup_removal_least"),
            models.CheckConstraint(condition=Q(Exact(make_family_expression("probe_target4"), 4)), name="group_probe_target4_is_ipv4"),
            models.CheckConstraint(condition=Q(Exact(make_family_expression("probe_target6"), 6)), name="group_probe_target6_is_ipv6"),
            models.CheckConstraint(
                condition=Q(probe_target4=None, probe_target6=None, probe_port=None)
                | (
                    Q(probe_port__isnull=False, probe_port__range=(1, 65535))
                    & (Q(probe_target4__isnull=False) | Q(probe_target6__isnull=False))
                ),
                name="group_probe_target_has_port",
            ),
            models.CheckConstraint(
                condition=Q(responder_port=None) | Q(responder_port__range=(1024, 65535), probe_port__isnull=False),
                name="group_responder_is_a_target",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class GatewaysInService(models.Manager["Gateway"]):
    """Gateways that are in service: a retired one is found only by what it confirmed and counted, or by `Gateway.ever`."""

    def get_queryset(self) -> models.QuerySet["Gateway"]:
        return super().get_queryset().filter(retired=None)


@track_history()
class Gateway(Versioned):
    """One Linux gateway. Its interface names and management addresses are its own, so each gateway has its own ruleset.

    retired: since when it is out of service. machine_name: what its agent calls itself, if that is not `name`: it was renamed.
    """

    class Link(models.TextChoices):
        SSH = "ssh", _("ssh")
        LAB = "lab", _("lab on this machine")
        LOCAL = "local", _("in memory on this machine")

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="gateways")
    name = models.CharField(_("name"), max_length=40)
    machine_name = models.CharField(_("name of its agent"), max_length=40, blank=True, default="", db_default="")
    retired = models.DateTimeField(_("out of service since"), null=True, blank=True)
    link = models.CharField(_("reached by"), max_length=8, choices=Link)
    lan = models.CharField(_("inside interface"), max_length=15)
    wan = models.CharField(_("outside interface"), max_length=15)
    management = models.CharField(_("management interface"), max_length=15)
    sync = models.CharField(_("state sync interface"), max_length=15, blank=True)
    sync_address = AddressField(_("address on the state sync interface"), null=True, blank=True)
    management_networks = ArrayField(PrefixField(), verbose_name=_("management networks"))
    management_port = models.PositiveIntegerField(_("management port"), default=22)
    address = AddressField(_("management address"), null=True, blank=True)
    ssh_user = models.CharField(_("ssh account"), max_length=32, default="netzwart")
    host_key = models.TextField(_("ssh host key"), blank=True, default="")  # as in ssh_host_ed25519_key.pub, without the comment
    carries4 = models.BooleanField(_("IPv4 primary"), default=False)
    carries6 = models.BooleanField(_("IPv6 primary"), default=False)
    probe_interface = models.CharField(_("probe interface"), max_length=15, blank=True, default="")
    probe_source4 = AddressField(_("private IPv4 address of the probe"), null=True, blank=True)
    probe_public4 = AddressField(_("public IPv4 address of the probe"), null=True, blank=True)
    probe_source6 = AddressField(_("IPv6 address of the probe"), null=True, blank=True)

    objects = GatewaysInService()
    ever = models.Manager["Gateway"]()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["name"], condition=Q(retired=None), name="gateway_name_of_one"),
            models.CheckConstraint(condition=Q(retired=None) | Q(carries4=False, carries6=False), name="gateway_retired_is_no_primary"),
            models.UniqueConstraint(fields=["group"], condition=Q(carries4=True), name="gateway_one_ipv4_primary_per_group"),
            models.UniqueConstraint(fields=["group"], condition=Q(carries6=True), name="gateway_one_ipv6_primary_per_group"),
            models.CheckConstraint(condition=Q(management_networks__len__gt=0), name="gateway_has_management_networks"),
            models.CheckConstraint(condition=Q(management_port__range=(1, 65535)), name="gateway_management_port"),
            models.CheckConstraint(
                condition=~Q(lan=F("wan")) & ~Q(lan=F("management")) & ~Q(wan=F("management")), name="gateway_interfaces_differ"
            ),
            models.CheckConstraint(condition=Q(sync="") | ~Q(sync__in=[F("lan"), F("wan"), F("management")]), name="gateway_sync_differs"),
            models.CheckConstraint(
                condition=Q(sync_address=None) | Q(Exact(make_family_expression("sync_address"), 4)) & ~Q(sync=""),
                name="gateway_sync_address_is_ipv4",
            ),
            models.UniqueConstraint(fields=["group", "sync_address"], condition=Q(retired=None), name="gateway_sync_address_of_one"),
            models.CheckConstraint(condition=~Q(link="ssh") | Q(address__isnull=False) & ~Q(host_key=""), name="gateway_reached_by_ssh"),
            models.CheckConstraint(condition=Q(host_key="") | Q(host_key__regex=HOST_KEY), name="gateway_host_key"),
            models.CheckConstraint(condition=Q(ssh_user__regex=ACCOUNT), name="gateway_ssh_user"),
            models.UniqueConstraint(fields=["probe_source4"], condition=Q(retired=None), name="gateway_probe_source4_of_one"),
            models.UniqueConstraint(fields=["probe_public4"], condition=Q(retired=None), name="gateway_probe_public4_of_one"),
            models.UniqueConstraint(fields=["probe_source6"], condition=Q(retired=None), name="gateway_probe_source6_of_one"),
            models.CheckConstraint(
                condition=Q(probe_source4=None, probe_public4=None)
                | Q(probe_source4__isnull=False, probe_public4__isnull=False)
                & Q(Exact(make_family_expression("probe_source4"), 4), Exact(make_family_expression("probe_public4"), 4)),
                name="gateway_probe_ipv4_is_whole",
            ),
            models.CheckConstraint(condition=Q(Exact(make_family_expression("probe_source6"), 6)), name="gateway_probe_source6_is_ipv6"),
            models.CheckConstraint(
                condition=Q(probe_interface="", probe_source4=None, probe_source6=None)
                | (~Q(probe_interface="") & (Q(probe_source4__isnull=False) | Q(probe_source6__isnull=False))),
                name="gateway_probe_has_interface",
            ),
            models.CheckConstraint(
                condition=~Q(probe_interface__in=[F("lan"), F("wan"), F("management")]), name="gateway_probe_interface_differs"
            ),
            models.CheckConstraint(condition=Q(probe_interface="") | ~Q(probe_interface=F("sync")), name="gateway_probe_is_not_sync"),
            models.CheckConstraint(
                condition=Q(probe_source4=None, probe_public4=None)
                | Q(_make_private_condition("probe_source4") & ~_make_private_condition("probe_public4")),
                name="gateway_probe_leaves_as_public",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def agent_name(self) -> str:
        """What the agent on its machine calls itself."""
        return self.machine_name or self.name


ALL_PORTS = 65536
LEAST_BLOCK_PORT = 1024  # ports below are never part of a block
MOST_KEPT = 64  # entries of Pool.kept
MOST_KEPT_FIRST = 1_000_000  # of Pool.kept_first
BLOCK_SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
SUITABLE_BLOCK_SIZES = (1024, 512, 256)  # best first; reasons: docs/adr/0023-one-port-towards-everybody.md


def compute_first_block_port(size: int) -> int:
    """Return the first port of an address's first block. Blocks begin at multiples of their size, above the well-known ports."""
    return 0 if size == ALL_PORTS else max(size, LEAST_BLOCK_PORT)


def count_port_blocks(size: int) -> int:
    """Return how many blocks of this size one address has."""
    return (ALL_PORTS - compute_first_block_port(size)) // size


def find_block_size(addresses: int, members: int) -> int | None:
    """Return the block size that suits this many members and a quarter more on these addresses; None if not even the smallest does."""
    fits = (size for size in SUITABLE_BLOCK_SIZES if 4 * addresses * count_port_blocks(size) >= 5 * members)
    return next(fits, None)


@track_history()
class Pool(Versioned):
    """A prefix out of which members get addresses. Pools never overlap: one installation is one network.

    sharing, block_size: how members use a public pool from now on; what each member has is in the NAT mapping. Other pools are "shared".
    kept_first: this many first shares, and kept: all shares that overlap these, are not assigned to members from now on: the router's.
    retired: since when no member gets a share of it; what members have stays theirs.
    """

    class Kind(models.TextChoices):
        PRIVATE4 = "private4", _("private IPv4")
        PUBLIC4 = "public4", _("public IPv4")
        PREFIX6 = "prefix6", _("IPv6 prefixes")

    class Sharing(models.TextChoices):
        OWN = "own", _("each member has an address of their own")
        SHARED = "shared", _("members share the addresses")
        BLOCKS = "blocks", _("members share the addresses, each has a block of ports")

    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="pools")
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    name = models.CharField(_("name"), max_length=60, unique=True)
    prefix = PrefixField(_("prefix"))
    member_length = models.PositiveSmallIntegerField(_("prefix length per member"), default=32)
    sharing = models.CharField(_("how members use it"), max_length=8, choices=Sharing, default=Sharing.SHARED, db_default="shared")
    block_size = models.PositiveIntegerField(_("ports per block"), null=True, blank=True)
    kept_first = models.PositiveIntegerField(_("first addresses kept free"), default=0, db_default=0)
    kept = ArrayField(PrefixField(), verbose_name=_("kept free"), default=list, blank=True, db_default=[])
    retired = models.DateTimeField(_("out of service since"), null=True, blank=True)

    class Meta:
        ordering = ["kind", "prefix"]
        constraints = [
            ExclusionConstraint(
                name="pool_overlaps", expressions=[(OpClass("prefix", "inet_ops"), "&&")], deferrable=models.Deferrable.IMMEDIATE
            ),
            models.UniqueConstraint(fields=["id", "kind", "group", "prefix"], name="pool_identity"),
            models.CheckConstraint(
                condition=Q(kind="prefix6", member_length__range=(32, 64)) | Q(kind__in=["private4", "public4"], member_length=32),
                name="pool_member_length",
            ),
            models.CheckConstraint(condition=Q(sharing__in=["own", "shared", "blocks"]), name="pool_sharing"),
            models.CheckConstraint(condition=Q(kind="public4") | Q(sharing="shared"), name="pool_shared_where_public"),
            models.CheckConstraint(
                condition=Q(sharing="blocks", block_size__isnull=False, block_size__in=BLOCK_SIZES)
                | ~Q(sharing="blocks") & Q(block_size=None),
                name="pool_block_size",
            ),
            models.CheckConstraint(
                condition=Q(Exact(make_family_expression("prefix"), 6), kind="prefix6")
                | Q(Exact(make_family_expression("prefix"), 4), kind__in=["private4", "public4"]),
                name="pool_family_fits_kind",
            ),
            models.CheckConstraint(condition=~Q(kind="public4") | Q(kept_first=0, kept=[]), name="pool_public_keeps_none"),
            models.CheckConstraint(condition=Q(prefix__covers_all=F("kept")), name="pool_kept_inside"),
            models.CheckConstraint(condition=Q(kept__len__lte=MOST_KEPT, kept_first__lte=MOST_KEPT_FIRST), name="pool_kept_few"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"


@track_history(exclude=["changed_in", "changed_at"])
class Holding(Deployed):
    """A member's address or IPv6 prefix, for a time. No other holding overlaps it at the same time.

    group, kind and pool_prefix repeat the pool's columns and are tied to them by a composite foreign key. So the database can check that
    the address lies in its pool, and other tables can check that their rows fit the holding.
    """

    member = models.ForeignKey(Member, models.PROTECT, related_name="holdings")
    device = models.ForeignKey(Device, models.SET_NULL, null=True, blank=True, related_name="holdings")
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="holdings")
    group = models.ForeignKey(GatewayGroup, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=Pool.Kind)
    pool_prefix = PrefixField()
    prefix = PrefixField(_("address"))
    valid = DateTimeRangeField(_("valid"))

    class Meta:
        ordering = ["kind", "prefix"]
        triggers = [build_stamp_trigger()]
        indexes = [models.Index(fields=["kind", "prefix"], name="holding_by_prefix"), build_validity_index("holding_valid_by_id")]
        constraints = [
            ExclusionConstraint(
                name="holding_address_held_twice",
                expressions=[(OpClass("prefix", "inet_ops"), "&&"), ("valid", RangeOperators.OVERLAPS)],
            ),
            models.UniqueConstraint(fields=["id", "kind", "group", "valid"], name="holding_identity"),
            models.CheckConstraint(condition=Q(kind__in=["private4", "prefix6"]), name="holding_kind"),
            models.CheckConstraint(condition=Q(prefix__within=F("pool_prefix")), name="holding_within_pool"),
            models.CheckConstraint(
                condition=Q(Exact(make_family_expression("prefix"), 4), Exact(make_length_expression("prefix"), 32))
                | Q(Exact(make_family_expression("prefix"), 6)),
                name="holding_ipv4_is_one_address",
            ),
            models.CheckConstraint(condition=Q(valid__isempty=False), name="holding_valid_some_time"),
        ]

    def __str__(self) -> str:
        return self.address

    @property
    def address(self) -> str:
        """Format the address: IPv4 without its prefix length, an IPv6 prefix with it."""
        return str(self.prefix.network_address if self.prefix.version == 4 else self.prefix)


@track_history(exclude=["changed_in", "changed_at"])
class Protection(Versioned, Deployed):
    """Filter settings of a group beyond the members' traffic: bogons, BGP and OSPF neighbours, FTP and SIP ports. Without a row, none.

    own: special-purpose prefixes that the network, its uplink or the networks behind it really use.
    """

    group = models.OneToOneField(GatewayGroup, models.CASCADE, related_name="protection")
    bogons = models.BooleanField(_("refuse addresses that cannot be on the internet"), default=False)
    own = ArrayField(PrefixField(), verbose_name=_("except these"), default=list, blank=True)
    bgp_peers = ArrayField(AddressField(), verbose_name=_("BGP neighbours"), default=list, blank=True)
    ospf_peers = ArrayField(AddressField(), verbose_name=_("OSPF neighbours"), default=list, blank=True)
    ftp_ports = ArrayField(models.PositiveIntegerField(), verbose_name=_("FTP ports"), default=list, blank=True)
    sip_ports = ArrayField(models.PositiveIntegerField(), verbose_name=_("SIP ports"), default=list, blank=True)

    class Meta:
        triggers = [build_stamp_trigger()]
        constraints = [
            models.CheckConstraint(condition=Q(ftp_ports__len__lte=16, sip_ports__len__lte=16), name="protection_few_helper_ports"),
        ]

    def __str__(self) -> str:
        return str(self.group)


@track_history(exclude=["changed_in", "changed_at"])
class Limits(Versioned, Deployed):
    """Limits of a group on new and open connections; 0: no limit. Without a row there is none.

    member_*: per member address or prefix; source_*: per foreign address or /64. *_rate: new connections a second, *_burst: at once,
    *_open: open at the same time, of which one of 16 is counted if open_sampled. mail_rate: a member's new connections to TCP port 25,
    a minute. exempt: prefixes without limits.
    """

    group = models.OneToOneField(GatewayGroup, models.CASCADE, related_name="limits")
    member_rate = models.PositiveIntegerField(_("new connections of a member per second"), default=0)
    member_burst = models.PositiveIntegerField(_("burst"), default=100)
    member_open = models.PositiveIntegerField(_("open connections of a member"), default=0)
    source_rate = models.PositiveIntegerField(_("new connections of an external address per second"), default=0)
    source_burst = models.PositiveIntegerField(_("burst"), default=100)
    source_open = models.PositiveIntegerField(_("open connections of an external address"), default=0)
    open_sampled = models.BooleanField(_("count one of 16 open connections instead of each"), default=True, db_default=False)
    mail_rate = models.PositiveIntegerField(_("connections of a member to mail servers (port 25) per minute"), default=0)
    refuses = models.BooleanField(_("refuse excess connections instead of dropping them silently"), default=True)
    exempt = ArrayField(PrefixField(), verbose_name=_("exempt networks"), default=list, blank=True)

    class Meta:
        triggers = [build_stamp_trigger()]
        constraints = [
            models.CheckConstraint(
                condition=Q(member_rate__lte=100_000, source_rate__lte=100_000, mail_rate__lte=100_000), name="limits_rates"
            ),
            models.CheckConstraint(condition=Q(member_burst__range=(1, 100_000), source_burst__range=(1, 100_000)), name="limits_bursts"),
            models.CheckConstraint(condition=Q(member_open__lte=1_000_000, source_open__lte=1_000_000), name="limits_open"),
        ]

    def __str__(self) -> str:
        return str(self.group)


RECOMMENDED = firewall.Profile()


@track_history(exclude=["changed_in", "changed_at"])
class Profile(Versioned, Deployed):
    """Kernel settings of a group's gateways. Without a row, or if not `managed`, the kernels are left as they are.

    As in firewall.policy.Profile: times in seconds; buckets of the connection table's hash; ports of the gateway's own connections.
    """

    group = models.OneToOneField(GatewayGroup, models.CASCADE, related_name="profile")
    managed = models.BooleanField(_("set by Netzwart"), default=True)
    connections = models.PositiveIntegerField(_("connections, at most"), default=RECOMMENDED.connections)
    buckets = models.PositiveIntegerField(_("buckets of the connection table"), default=RECOMMENDED.buckets)
    tcp_established = models.PositiveIntegerField(_("open TCP connections, seconds"), default=RECOMMENDED.tcp_established)
    tcp_syn_sent = models.PositiveIntegerField(_("unanswered TCP connections, seconds"), default=RECOMMENDED.tcp_syn_sent)
    tcp_fin_wait = models.PositiveIntegerField(_("TCP connections that one side ended, seconds"), default=RECOMMENDED.tcp_fin_wait)
    tcp_close_wait = models.PositiveIntegerField(_("TCP connections half closed, seconds"), default=RECOMMENDED.tcp_close_wait)
    tcp_time_wait = models.PositiveIntegerField(_("TCP connections that both ended, seconds"), default=RECOMMENDED.tcp_time_wait)
    udp = models.PositiveIntegerField(_("UDP, question and answer, seconds"), default=RECOMMENDED.udp)
    udp_stream = models.PositiveIntegerField(_("UDP in both directions, seconds"), default=RECOMMENDED.udp_stream)
    icmp = models.PositiveIntegerField(_("ping, seconds"), default=RECOMMENDED.icmp)
    generic = models.PositiveIntegerField(_("other protocols, seconds"), default=RECOMMENDED.generic)
    tcp_loose = models.BooleanField(_("pick up established TCP connections"), default=RECOMMENDED.tcp_loose)
    first_port = models.PositiveIntegerField(_("first port of the gateway’s own connections"), default=RECOMMENDED.first_port)
    last_port = models.PositiveIntegerField(_("last port of the gateway’s own connections"), default=RECOMMENDED.last_port)

    class Meta:
        triggers = [build_stamp_trigger()]
        constraints = [
            models.CheckConstraint(
                condition=Q(**{f"{name}__range": (each[0], each[-1]) for name, each in LIMITS.items()}), name="profile_limits"
            ),
            models.CheckConstraint(
                condition=Q(Exact(Mod("buckets", BUCKETS_STEP), 0), connections__lte=F("buckets") * MOST_PER_BUCKET),
                name="profile_buckets",
            ),
            models.CheckConstraint(condition=Q(last_port__gte=F("first_port") + (LEAST_PORTS - 1)), name="profile_ports"),
        ]

    def __str__(self) -> str:
        return str(self.group)


class Gauge(models.Model):
    """Fill level of a dynamic set on a gateway, as last read; packets add the set's elements."""

    gateway = models.ForeignKey(Gateway, models.CASCADE, related_name="gauges")
    name = models.CharField(max_length=60)
    used = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["gateway", "name"], name="gauge_of_one_set")]

    def __str__(self) -> str:
        return f"{self.gateway}: {self.name} {self.used}/{self.size}"
