"""Forms for a gateway's interfaces and management, and for the settings of a group."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.gateways import group_settings
from apps.gateways.groups import CONFIRM_WITHIN, LONGEST_NAME, RESPONDER_PORTS, SHARE, GroupFacts
from apps.gateways.line_fields import AddressLines, PrefixLines
from apps.gateways.services import GatewayFacts, get_facts
from apps.network.forms import AddressFormField
from apps.network.models import Gateway, GatewayGroup
from firewall.profile import BUCKETS_STEP, LIMITS


class PortListField(forms.CharField):
    """Ports, separated by commas or spaces."""

    widget = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[int]:
        try:
            return [int(each) for each in super().clean(value).replace(",", " ").split()]
        except ValueError as error:
            raise forms.ValidationError(gettext("Write ports as numbers, like 21, 2121.")) from error


class VersionedForm(forms.Form):
    """Form for one versioned row. After a conflict it also shows the values in the database."""

    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, row: Any, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(row, name) for name in self.base_fields})
        self.row = row
        self.conflict = ""

    def take_up(self, conflict: str) -> None:
        """Keep the input, show the values that another user saved next to it, and let the next save replace them."""
        self.row.refresh_from_db()
        self.conflict = conflict
        self.data = {**self.data.dict(), "version": str(self.row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request

    def iter_rows(self) -> Iterator[tuple[BoundField, str]]:
        """Yield each visible field; after a conflict, with its value in the database if that differs from the input."""
        for bound in self.visible_fields():
            saved = getattr(self.row, bound.name)
            typed = self.cleaned_data.get(bound.name) if self.conflict else saved
            yield bound, "" if typed == saved else self.format_value(bound.field, saved)

    def format_value(self, field: forms.Field, saved: Any) -> str:
        """Format a saved value for people: a choice in its words."""
        if isinstance(field, forms.ChoiceField):
            return str(dict(field.choices)[saved])  # type: ignore[arg-type]  # pairs: none of these forms groups its choices
        value = field.prepare_value(saved)
        return {True: gettext("yes"), False: gettext("no")}[value] if isinstance(value, bool) else str(value or gettext("nothing"))


def _build_address_field(label: Any, help_text: Any) -> AddressFormField:
    attrs = {"autocomplete": "off", "spellcheck": "false", "class": "nw-mono"}
    return AddressFormField(label=label, max_length=50, required=False, help_text=help_text, widget=forms.TextInput(attrs=attrs))


def _build_interface_field(label: Any, help_text: Any, *, required: bool = True) -> forms.CharField:
    attrs = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}
    return forms.CharField(label=label, max_length=15, required=required, help_text=help_text, widget=forms.TextInput(attrs=attrs))


class BaseGatewayForm(forms.Form):
    """How a gateway is reached and managed, and its interfaces."""

    address = _build_address_field(_("Management address"), _("Where its sshd listens"))
    management_port = forms.IntegerField(label=_("Management port"), min_value=1, max_value=65535, help_text=_("ssh, usually 22"))
    ssh_user = forms.CharField(
        label=_("Account"),
        max_length=32,
        help_text=_("The portal signs in to it; it may only talk to the agent."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}),
    )
    lan = _build_interface_field(_("Inside interface"), _("Where the members are"))
    wan = _build_interface_field(_("Outside interface"), _("Where the internet is"))
    management = _build_interface_field(_("Management interface"), _("Where ssh comes in"))
    sync = _build_interface_field(_("State sync interface"), _("To the other gateway"), required=False)
    sync_address = _build_address_field(
        _("Address on the state sync interface"), _("IPv4, this gateway’s own. Failover needs it; otherwise leave it empty.")
    )
    management_networks = PrefixLines(
        label=_("Management networks"), help_text=_("One in each line. Hosts outside these cannot reach this gateway’s ssh.")
    )


class NewGatewayForm(BaseGatewayForm):
    """Adds a gateway that is reached by ssh."""

    name = forms.CharField(
        label=_("Name"),
        max_length=40,
        help_text=_("The same as its agent’s: small letters, digits, hyphens"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}),
    )
    group = forms.ModelChoiceField(GatewayGroup.objects.all(), label=_("Gateway group"), empty_label=None)
    host_key = forms.CharField(
        label=_("Host key"),
        max_length=400,
        help_text=_("The line in /etc/ssh/ssh_host_ed25519_key.pub, from the gateway’s own console."),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "class": "nw-mono", "placeholder": "ssh-ed25519 AAAA…"}
        ),
    )
    carries4 = forms.BooleanField(label=_("Primary for IPv4"), required=False)
    carries6 = forms.BooleanField(label=_("Primary for IPv6"), required=False)

    field_order = (
        "name",
        "group",
        "address",
        "management_port",
        "ssh_user",
        "host_key",
        "lan",
        "wan",
        "management",
        "sync",
        "sync_address",
    )

    def to_kwargs(self) -> dict[str, Any]:
        """Return the arguments of `enrolment.enrol_gateway`."""
        given = dict(self.cleaned_data)
        carries = [family for family in (4, 6) if given.pop(f"carries{family}")]
        return given | {"carries": carries, "port": given.pop("management_port"), "account": given.pop("ssh_user")}


class GatewayForm(VersionedForm, BaseGatewayForm):
    """Interfaces, management and probe of a gateway; how it is reached only where that is by ssh."""

    probe_interface = _build_interface_field(_("Probe interface"), _("Empty: this gateway is not probed."), required=False)
    probe_source4 = _build_address_field(_("Private IPv4 address of the probe"), _("The probe’s own, in no pool"))
    probe_public4 = _build_address_field(_("Public IPv4 address of the probe"), _("Routed to this gateway alone; no member leaves as it"))
    probe_source6 = _build_address_field(_("IPv6 address of the probe"), _("Routed to this gateway alone, in no pool"))

    field_order = ("lan", "wan", "management", "sync", "sync_address", "management_networks", "address", "management_port", "ssh_user")

    def __init__(self, gateway: Gateway, data: Any = None) -> None:
        super().__init__(gateway, data)
        if gateway.link != Gateway.Link.SSH:
            del self.fields["address"], self.fields["ssh_user"]

    def to_facts(self) -> GatewayFacts:
        """Return what was entered; what the form does not show stays."""
        given = {name: value for name, value in self.cleaned_data.items() if name != "version"}
        return replace(get_facts(self.row), **given)


class BaseGroupForm(forms.Form):
    """Name of a group, and the target of its probes."""

    name = forms.CharField(label=_("Name"), max_length=LONGEST_NAME, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    probe_target4 = _build_address_field(
        _("IPv4 target of the probes"), _("A host on the internet to which each gateway connects after a change, to see that packets pass.")
    )
    probe_target6 = _build_address_field(_("IPv6 target of the probes"), _("The same over IPv6. Empty: this family is not probed."))
    probe_port = forms.IntegerField(
        label=_("TCP port of the targets"), min_value=1, max_value=65535, required=False, help_text=_("80 or 443, for instance")
    )
    responder_port = forms.IntegerField(
        label=_("TCP port of the responder"),
        min_value=RESPONDER_PORTS.start,
        max_value=RESPONDER_PORTS[-1],
        required=False,
        help_text=_("If a target is a host of your own that runs the responder: it connects back, so a probe also shows what comes in."),
    )

    def to_facts(self) -> GroupFacts:
        """Return what was entered; a new group has the usual values of everything else."""
        return GroupFacts(**{name: value for name, value in self.cleaned_data.items() if name != "version"})


class NewGroupForm(BaseGroupForm):
    """Adds a group."""


class GroupForm(VersionedForm, BaseGroupForm):
    """Name, probe targets and rollout settings of a group."""

    goes_on = forms.BooleanField(
        label=_("Go on without a gateway that does not answer"),
        required=False,
        help_text=_("It gets what it missed as soon as it answers. Off: no gateway gets a change that one of them cannot get."),
    )
    heals_drift = forms.BooleanField(
        label=_("Put right what was changed by hand on a gateway"),
        required=False,
        help_text=_("Off: the difference is shown until an administrator puts it right."),
    )
    confirm_within = forms.IntegerField(
        label=_("Seconds until a gateway reverts an unconfirmed change"),
        min_value=CONFIRM_WITHIN.start,
        max_value=CONFIRM_WITHIN[-1],
        help_text=_("The gateway counts them itself and goes back on its own."),
    )
    removal_share = forms.IntegerField(
        label=_("Share of removals above which a second person must agree, in percent"),
        min_value=SHARE.start,
        max_value=SHARE[-1],
        help_text=_("Per kind: addresses, IPv6 prefixes, NAT mappings, forwarded ports, IPv6 pinholes, bans"),
    )
    removal_least = forms.IntegerField(label=_("Number of removals from which this applies"), min_value=1, max_value=2**31 - 1)

    field_order = ("name", "goes_on", "heals_drift", "confirm_within", "probe_target4", "probe_target6", "probe_port", "responder_port")

    def __init__(self, group: GatewayGroup, data: Any = None) -> None:
        super().__init__(group, data)


class ProtectionForm(VersionedForm):
    """Protection of a group: what its gateways refuse, and which routers may connect to them."""

    bogons = forms.BooleanField(
        label=_("Refuse addresses that cannot be on the internet"),
        required=False,
        help_text=_("Private, reserved and documentation addresses (RFC 6890), as sender from outside and as target of members."),
    )
    own = PrefixLines(
        label=_("Except these networks"),
        required=False,
        help_text=_(
            "One in each line: networks with such addresses that your uplink, your other sites or a provider’s services really use."
        ),
    )
    clamp_mss = forms.BooleanField(
        label=_("Clamp the TCP segment size (MSS) to the uplink"),
        required=False,
        help_text=_(
            "For uplinks with a small MTU, such as PPPoE: without it, some pages load forever. Costs a little for each new connection."
        ),
    )
    bgp_peers = AddressLines(
        label=_("BGP neighbours"),
        required=False,
        help_text=_("Routers, one in each line, that may open TCP port 179 on the inside and outside interface."),
    )
    ospf_peers = AddressLines(
        label=_("OSPF neighbours"),
        required=False,
        help_text=_("Routers whose OSPF the gateways accept; for OSPFv3 their link-local addresses."),
    )
    ftp_ports = PortListField(
        label=_("FTP helper ports"),
        required=False,
        help_text=_(
            "Usually 21. The gateways read members’ FTP there, so that the server can connect back in active "
            "mode. Empty: passive FTP works without it."
        ),
    )
    sip_ports = PortListField(
        label=_("SIP helper ports"),
        required=False,
        help_text=_(
            "Usually 5060. The gateways read members’ SIP there, for old telephones without STUN; with others it "
            "does more harm than good. Empty: not read."
        ),
    )

    def __init__(self, group: GatewayGroup, data: Any = None) -> None:
        self.group = group
        super().__init__(self._get_row(), data)

    def _get_row(self) -> Any:
        row: Any = group_settings.get_protection(self.group)
        row.clamp_mss = GatewayGroup.objects.values_list("clamp_mss", flat=True).get(pk=self.group.pk)
        return row

    def take_up(self, conflict: str) -> None:
        """Like `VersionedForm.take_up`, for a row that may have been created meanwhile."""
        self.row, self.conflict = self._get_row(), conflict
        self.data = {**self.data.dict(), "version": str(self.row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request


def build_number_field(label: Any, most: int, least: int = 0, help_text: Any = "") -> forms.IntegerField:
    """Return a field for a number between `least` and `most`."""
    return forms.IntegerField(label=label, min_value=least, max_value=most, help_text=help_text)


def _build_range_field(name: str, label: Any, help_text: Any = "") -> forms.IntegerField:
    return build_number_field(label, LIMITS[name][-1], LIMITS[name][0], help_text)


class ProfileForm(VersionedForm):
    """Kernel profile of a group's gateways."""

    managed = forms.BooleanField(
        label=_("Netzwart sets these values"),
        required=False,
        help_text=_("When off, each gateway returns to the values that its kernel had before."),
    )
    connections = _build_range_field(
        "connections",
        _("Connections, at most"),
        _(
            "When the table is full, no new connection can be opened. Allow about 50 for each member; each "
            "takes about 400 bytes while it exists."
        ),
    )
    buckets = _build_range_field(
        "buckets",
        _("Buckets of the connection table"),
        _("As many as connections, so that each packet finds its connection quickly. A multiple of 8,192; each always takes 8 bytes."),
    )
    tcp_established = _build_range_field(
        "tcp_established",
        _("Open TCP connections, seconds"),
        _("Forgotten after this time without a packet. 7,440 is the 2 h 4 min of RFC 5382; the kernel’s default is five days."),
    )
    tcp_syn_sent = _build_range_field(
        "tcp_syn_sent",
        _("Unanswered TCP connections, seconds"),
        _("Scans make many of them. Each new try begins the time anew."),
    )
    tcp_fin_wait = _build_range_field(
        "tcp_fin_wait", _("TCP connections that one side has ended, seconds"), _("The other may still send that long.")
    )
    tcp_close_wait = _build_range_field("tcp_close_wait", _("Half-closed TCP connections, seconds"))
    tcp_time_wait = _build_range_field(
        "tcp_time_wait",
        _("TCP connections that both sides have ended, seconds"),
        _("For packets that arrive late. Many short connections fill the table."),
    )
    udp = _build_range_field(
        "udp",
        _("UDP, a question and its answer, seconds"),
        _("For DNS and NTP, with thousands of queries a minute. All other UDP keeps at least 120 s, whatever is set here (RFC 4787)."),
    )
    udp_stream = _build_range_field(
        "udp_stream",
        _("UDP in both directions, seconds"),
        _("Calls, games, VPNs. RFC 4787 recommends 300; with less, a silent call breaks. At least 120 s apply, whatever is set here."),
    )
    icmp = _build_range_field("icmp", _("Ping, seconds"), _("ICMP and ICMPv6. RFC 5508 demands 60."))
    generic = _build_range_field("generic", _("Other protocols, seconds"), _("Such as tunnels (GRE, ESP)."))
    tcp_loose = forms.BooleanField(
        label=_("Pick up established TCP connections"),
        required=False,
        help_text=_(
            "After a restart or a failover without state sync, connections that the gateway does not know can "
            "continue or end cleanly. Off: their packets are dropped, and a missing state sync is noticed at once."
        ),
    )
    first_port = _build_range_field(
        "first_port",
        _("First port of the gateway’s own connections"),
        _("To name servers, package servers, monitoring; not those of members."),
    )
    last_port = _build_range_field("last_port", _("Last port of the gateway’s own connections"))

    def __init__(self, group: GatewayGroup, data: Any = None) -> None:
        self.group = group
        super().__init__(group_settings.get_profile(group), data)
        self.fields["buckets"].widget.attrs["step"] = BUCKETS_STEP

    def take_up(self, conflict: str) -> None:
        """Like `VersionedForm.take_up`, for a row that may have been created meanwhile."""
        self.row, self.conflict = group_settings.get_profile(self.group), conflict
        self.data = {**self.data.dict(), "version": str(self.row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request
