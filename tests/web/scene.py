"""A demo network that has one of everything, so that every page has something to show; and which page shows what of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from django.db.models import Model
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.bans import allowing, feeding, services, uploads
from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Block, Listener, Reachable, Upload
from apps.deployments.models import HeldBack, Revision, Rollout
from apps.deployments.services import reconcile
from apps.desk.seeding import demo
from apps.lib.validity import holds_now
from apps.members.models import Device, Member, Tariff
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.services import add_pinhole
from apps.network.models import Gateway, GatewayGroup, Holding, Pool
from apps.traffic.rates.models import RateLimit
from apps.traffic.rates.services import limit

LONG = "Kindergarten-Freundeskreis-Nachbarschaftshilfe-Donaudampfschifffahrtsgesellschaft"  # 81 letters without a place to break
FEED = b"".join(b"198.18.%d.0/24 # %s\n" % (at, LONG.encode()) for at in range(60))

RESIDENT = "selin"

# What cannot be visited: answers to POST alone, files, and a few more with their reasons.
POSTED = (
    "accounts:session-end", "accounts:sessions-end-others", "accounts:invitation-withdraw", "accounts:token-revoke",
    "lib:theme", "nat:forward-add", "nat:forward-switch", "nat:forward-restore",
    "nat:pinhole-add", "nat:pinhole-switch", "nat:pinhole-restore", "bans:feed_now", "bans:add", "bans:bulk", "bans:restore", "bans:revert",
    "bans:blocks-bulk", "bans:block-restore", "bans:reachable-add", "bans:reachable-remove", "bans:server-interface", "deployments:deploy",
    "deployments:again", "deployments:pause", "deployments:resume", "deployments:approve", "gateways:put-right", "desk:live-end",
    "desk:members-bulk", "desk:member-activate", "desk:holding-add", "desk:device-add", "own:port-switch", "own:port-reopen",
)  # fmt: skip
FILES = (
    "api-schema", "bans:download", "nat:forwards-csv", "nat:pinholes-csv", "desk:members-csv", "deployments:delta", "deployments:held-text",
)  # fmt: skip
NOT_VISITED = {
    **dict.fromkeys(POSTED, "an answer to POST alone"),
    **dict.fromkeys(FILES, "a file"),
    "set_language": "sends on",
    "lib:language": "sends on",
    "deployments:compare-text": "a file, of two revisions",
    "deployments:rollout_now": "a part of deployments:rollout, asked for by HTMX alone",
    "bans:saved": "a part of bans:list, asked for by HTMX alone",
    "bans:feed_state": "a part of bans:list, asked for by HTMX alone",
    "desk:live-seen": "needs a kernel; visited by test_live.py",
    **dict.fromkeys(
        ("accounts:invited", "account_confirm_email", "account_reset_password_from_key"),
        "needs what was sent by mail; see test_invitations.py",
    ),
    **dict.fromkeys(("mfa_edit_webauthn", "mfa_remove_webauthn"), "needs a passkey; see test_signing_in.py"),
    **dict.fromkeys(("openid_connect_login", "openid_connect_callback"), "leads to another's page; see test_single_sign_on.py"),
}


@dataclass(frozen=True)
class Page:
    """A page that a browser can ask for: the name in the URL configuration, and its address."""

    name: str
    path: str


def make() -> User:
    """The demo network with one of everything; what the gateways run is deployed. Returns whoever looks at the pages."""
    demo.make(Gateway.Link.LOCAL, timezone.localdate())
    mara, group = User.objects.get(username="mara"), GatewayGroup.objects.get()
    assert reconcile(group, by=mara.pk)
    _openings(mara)
    _bans(mara)
    member = Member.objects.get(user__username=RESIDENT)
    limit(member=member, up_kbit=1000, down_kbit=5000, reason="other", note=LONG, until=timezone.now() + timedelta(hours=3), by=mara)
    group.removal_least = 3
    group.save()
    assert reconcile(group, by=mara.pk)
    for forward in PortForward.objects.filter(holds_now(), enabled=True)[:5]:
        forward.delete()
    reconcile(group, by=mara.pk)
    assert HeldBack.objects.exists()
    return mara


def _openings(mara: User) -> None:
    prefix = Holding.objects.filter(holds_now(), kind=Pool.Kind.PREFIX6).order_by("pk")[0]
    address = prefix.prefix.network_address + 0x1000_2000_3000_4000
    add_pinhole(holding=prefix, address=address, protocol="tcp", port=443, purpose=LONG[:80], by=mara)
    add_pinhole(holding=prefix, address=address, protocol="udp", port=6000, ports=10, until=timezone.now() + timedelta(days=9), by=mara)


def _bans(mara: User) -> None:
    banlist = services.create_list(name="Scanners", description=LONG, by=mara)
    services.ban(list=banlist, prefix=ip_network("2001:db8:dead:beef:1234:5678:9abc:def0/128"), comment=LONG, author=mara)
    feeding.subscribe(list=banlist, source=f"https://feeds.example.org/{LONG}/netset.txt", by=mara)
    now = timezone.now()
    held = {"held": FEED, "held_since": now, "held_removed": 40, "held_of": 60}
    gone_wrong = {"error": {"fault": "status", "what": "503"}, "error_since": now, "outcome": {"added": 1, "removed": 2, "unchanged": 3}}
    BanFeed.objects.update(phase=BanFeed.Phase.IDLE, checked=now, refreshed=now, **gone_wrong, **held)
    allowing.allow(prefix="203.0.113.224/28", comment=LONG, author=mara)
    allowing.allow(prefix="2001:db8:bad:1234:5678:9abc:def0:1", expires=timezone.now() + timedelta(hours=2), author=mara)
    options = {"keep": False, "minimum_count": 0, "comment": "", "direction": "both"}
    uploads.keep(list=banlist, name=f"{LONG}.txt", content=FEED + b"999.1.1.1\n", options=options, by=mara)


def _pk(model: type[Model], **where: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {"pk": model._default_manager.filter(**where).order_by("pk").values_list("pk", flat=True)[0]}


def _member() -> dict[str, Any]:
    """Somebody who has forwards, pinholes and devices."""
    return {"pk": Pinhole.objects.values_list("holding__member", flat=True)[0]}


def _holding() -> dict[str, Any]:
    return {"pk": Pinhole.objects.values_list("holding", flat=True)[0]}


def _list() -> dict[str, Any]:
    return {"pk": BanList.objects.get(name="Scanners").pk}


def _group() -> dict[str, Any]:
    return {"group": GatewayGroup.objects.get().pk}


def _blocked() -> dict[str, Any]:
    return {"pk": Block.objects.filter(holds_now()).values_list("pk", flat=True)[0]}


def _forward() -> dict[str, Any]:
    return {"pk": PortForward.objects.filter(holds_now()).values_list("pk", flat=True)[0]}


def _own_forward() -> dict[str, Any]:
    return {"pk": PortForward.objects.filter(holds_now(), holding__member__user__username=RESIDENT).values_list("pk", flat=True)[0]}


LISTS = ("list", "switch", "edit", "delete", "feed", "feed_now", "feed_held", "feed_remove", "add", "bulk", "import")
ROLLOUT = ("rollout", "again", "delta", "stop", "pause", "resume")
MEMBER = ("member", "member-edit", "member-activate", "member-leave", "holdings", "holding-add", "device-add")

# Pages for who has not signed in.
STRANGERS = (
    "account_login", "account_inactive", "account_signup", "account_reset_password", "account_reset_password_done",
    "account_reset_password_from_key_done", "account_email_verification_sent", "socialaccount_login_cancelled",
    "socialaccount_login_error", "api-docs",
)  # fmt: skip

# What stands in the address of a page whose address needs something.
SHOWS: Mapping[str, Callable[[], dict[str, Any]]] = {
    **{f"bans:{name}": _list for name in LISTS},
    **{f"bans:{name}": _pk(Ban) for name in ("ban", "saved", "lift", "revert")},
    **{f"bans:{name}": _blocked for name in ("block", "block-lift", "block-restore")},
    **{f"bans:{name}": _pk(AllowEntry) for name in ("allow_entry", "disallow")},
    **{f"bans:{name}": _pk(Listener) for name in ("listener", "listener-remove")},
    **{f"bans:{name}": _group for name in ("notice", "reachable-add")},
    **{f"desk:{name}": _member for name in MEMBER},
    **{f"desk:{name}": _pk(Device) for name in ("device-edit", "device-remove")},
    **{f"deployments:{name}": _pk(Rollout) for name in ROLLOUT},
    **{f"deployments:{name}": _pk(HeldBack) for name in ("held", "approve", "held-text")},
    **{f"deployments:{name}": _pk(Revision) for name in ("revision", "back")},
    **{f"gateways:{name}": _pk(Gateway) for name in ("gateway", "edit", "put-right")},
    **{f"gateways:{name}": _pk(GatewayGroup) for name in ("group", "protection", "limits", "profile", "flood")},
    **{f"nat:{name}": _member for name in ("forwards-of", "forward-add", "pinholes-of", "pinhole-add")},
    **{f"nat:{name}": _forward for name in ("forward-edit", "forward-switch", "forward-remove", "forward-restore")},
    **{f"nat:{name}": _pk(Pinhole) for name in ("pinhole-edit", "pinhole-switch", "pinhole-remove", "pinhole-restore")},
    **{f"network:{name}": _pk(Pool) for name in ("pool", "pool-edit")},
    **{f"own:{name}": _own_forward for name in ("port-close", "port-switch", "port-reopen")},
    "bans:block-member": _member,
    "bans:download": lambda: _list() | {"form": "csv"},
    "bans:preview": _pk(Upload),
    "bans:reachable-remove": _pk(Reachable),
    "bans:restore": lambda: _list() | {"history": "00000000-0000-0000-0000-000000000000"},
    "deployments:release": _pk(GatewayGroup),
    "desk:holding-release": _holding,
    "desk:live-end": lambda: {"gateway": "nat-1", "number": 1},
    "lib:styleguide": lambda: {"name": "parts"},
    "nat:renumber": _holding,
    "members:tariff": _pk(Tariff),
    "rates:limit": _member,
    "rates:release": _pk(RateLimit),
    "rates:uplink": _group,
    "rates:switch": _group,
    "accounts:session-end": lambda: {"pk": 1},
    "accounts:invitation-withdraw": lambda: {"pk": 1},
    "accounts:token-revoke": lambda: {"pk": 1},
}

# What is asked for beside: pages look otherwise with an answer, with nothing found, or filtered.
ALSO = (
    ("desk:why", "gateway=nat-1&source=203.0.113.9&source_port=5000&destination=198.51.100.7&protocol=tcp&port=51413"),
    ("desk:search", "q=selin"),
    ("desk:search", "q=203.0.113.200"),
    ("desk:search", "q=nobody-of-this-name"),
    ("desk:members", "view=pending&sort=-paid"),
    ("desk:members", "q=nobody-of-this-name"),
    ("bans:covering", "address=203.0.113.225"),
    ("bans:covering", "address=nonsense"),
    ("bans:blocks", "state=over"),
    ("network:held", "address=10.16.0.10"),
    ("deployments:compare", "from={first}&to={last}"),
    ("audit:history", "kind=nat.portforward"),
)


def pages() -> list[Page]:
    """Every page of the URL configuration, in its order, and some again with what is asked for."""
    named = [Page(name, address(name)) for name in _visited() if not name.startswith("own:")]
    revisions = list(Revision.objects.order_by("pk").values_list("pk", flat=True))
    known = {"first": revisions[0], "last": revisions[-1]}
    asked = [Page(name, f"{address(name)}?{query.format(**known)}") for name, query in ALSO]
    return [*named, *asked, Page("an address that leads nowhere", "/nowhere/")]


def own() -> list[Page]:
    """Every page of a member's own, for RESIDENT."""
    return [Page(name, address(name)) for name in _visited() if name.startswith("own:")]


def _visited() -> list[str]:
    return [name for name in dict.fromkeys(_names(get_resolver(), "")) if name not in NOT_VISITED]


def address(name: str) -> str:
    try:
        return reverse(name, kwargs=SHOWS[name]() if name in SHOWS else None)
    except NoReverseMatch as error:
        raise AssertionError(f"{name} is not visited: say in tests/web/scene.py what it shows, or why it cannot be visited") from error


def _names(resolver: URLResolver, namespace: str) -> list[str]:
    found: list[str] = []
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            found += [f"{namespace}{each.name}"] if each.name else []
        elif each.namespace != "api":
            found += _names(each, f"{namespace}{each.namespace}:" if each.namespace else namespace)
    return found
