"""Table of the rights that pages and API actions need: the only place that defines them.

A route without a line here is closed to everybody. `manage.py permissions` writes docs/permissions.md from this table, and
tests/db/test_permissions.py requests every route as every role.
"""

from dataclasses import dataclass, field
from typing import Final

from apps.accounts.roles import Right

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class PageRights:
    """Rights to look at a page and to send to it; None: the page does not offer that."""

    see: Right | None
    change: Right | None = None

    def find_right(self, method: str) -> Right | None:
        return self.see if method in SAFE else self.change


@dataclass(frozen=True)
class CollectionRights:
    """Rights of a collection of the API: to read, to write, and for single actions that need another right."""

    read: Right
    write: Right | None = None
    actions: dict[str, Right] = field(default_factory=dict)

    def find_right(self, action: str, method: str) -> Right | None:
        return self.actions.get(action) or (self.read if method in SAFE else self.write)


def _make_form(change: Right) -> PageRights:
    """Return the rights of a page that exists to change something: an account that may not change it does not see it either."""
    return PageRights(change, change)


def _make_button(change: Right) -> PageRights:
    """Return the rights of a button: it can only be sent to."""
    return PageRights(None, change)


_SEE_MEMBERS, _SEE_NETWORK = PageRights(Right.SEE_MEMBERS), PageRights(Right.SEE_NETWORK)
_MEMBER_FORM, _MEMBER_ACT = _make_form(Right.CHANGE_MEMBERS), _make_button(Right.CHANGE_MEMBERS)
_RULE_FORM, _RULE_ACT, _RULE_PAGE = (
    _make_form(Right.CHANGE_RULES),
    _make_button(Right.CHANGE_RULES),
    PageRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
)
_BLOCK_FORM, _BLOCK_ACT = _make_form(Right.BLOCK), _make_button(Right.BLOCK)
_OPERATE_FORM, _OPERATE_ACT, _OPERATE_PAGE = (
    _make_form(Right.OPERATE),
    _make_button(Right.OPERATE),
    PageRights(Right.SEE_NETWORK, Right.OPERATE),
)

PAGES: Final[dict[str, PageRights]] = {
    # signing in
    **dict.fromkeys(
        (
            "account_login",
            "account_logout",
            "account_signup",
            "account_reset_password",
            "account_reset_password_from_key",
            "account_confirm_email",
            "account_confirm_login_code",
            "mfa_authenticate",
            "mfa_login_webauthn",
            "socialaccount_signup",
            "openid_connect_login",
            "openid_connect_callback",
        ),
        PageRights(Right.ANYONE, Right.ANYONE),
    ),
    **dict.fromkeys(
        (
            "account_inactive",
            "account_email_verification_sent",
            "account_reset_password_done",
            "account_reset_password_from_key_done",
            "socialaccount_login_cancelled",
            "socialaccount_login_error",
        ),
        PageRights(Right.ANYONE),
    ),
    # one's own account
    "accounts:account": PageRights(Right.OWN),
    "accounts:keys": _make_button(Right.OWN),
    "accounts:sessions": PageRights(Right.OWN),
    "accounts:session-end": _make_button(Right.OWN),
    "accounts:tokens": _make_form(Right.OWN),
    "accounts:token-revoke": _make_form(Right.OWN),
    "accounts:tokens-revoke-all": _make_button(Right.OWN),
    "accounts:invited": PageRights(Right.ANYONE, Right.ANYONE),
    "accounts:invitations": _make_form(Right.MANAGE_ACCOUNTS),
    "accounts:invitation-withdraw": _make_button(Right.MANAGE_ACCOUNTS),
    "accounts:sessions-end-others": _make_button(Right.OWN),
    # roles
    "accounts:people": _SEE_NETWORK,
    "accounts:person": _SEE_NETWORK,
    "accounts:roles": _make_form(Right.MANAGE_ACCOUNTS),
    "accounts:person-sign-out": _make_button(Right.MANAGE_ACCOUNTS),
    "accounts:person-revoke-tokens": _make_button(Right.MANAGE_ACCOUNTS),
    "accounts:roles-agree": _make_button(Right.APPROVE),
    "accounts:roles-drop": _make_button(Right.DROP_ROLES),
    **dict.fromkeys(("mfa_index", "mfa_list_webauthn", "mfa_view_recovery_codes", "mfa_download_recovery_codes"), PageRights(Right.OWN)),
    **dict.fromkeys(
        (
            "account_reauthenticate",
            "account_email",
            "account_change_password",
            "account_set_password",
            "mfa_reauthenticate",
            "mfa_activate_totp",
            "mfa_deactivate_totp",
            "mfa_generate_recovery_codes",
            "mfa_add_webauthn",
            "mfa_edit_webauthn",
            "mfa_remove_webauthn",
            "mfa_reauthenticate_webauthn",
            "socialaccount_connections",
        ),
        _make_form(Right.OWN),
    ),
    "api-schema": PageRights(Right.ANYONE),
    "api-docs": PageRights(Right.ANYONE),
    "set_language": _make_button(Right.ANYONE),
    "accounts:signed-out": PageRights(Right.ANYONE),
    "accounts:back-channel-logout": _make_button(Right.ANYONE),
    "lib:theme": _make_button(Right.ANYONE),
    "lib:language": _make_button(Right.ANYONE),
    "lib:styleguide": _SEE_MEMBERS,
    # external monitoring
    "operations:health": PageRights(Right.ANYONE),
    # desk
    "desk:dashboard": _SEE_MEMBERS,
    "desk:search": _SEE_MEMBERS,
    "desk:why": _SEE_MEMBERS,
    "desk:system": PageRights(Right.SEE_NETWORK),
    "desk:exports": PageRights(Right.CHANGE_RULES),
    "desk:export": PageRights(Right.CHANGE_RULES),
    "desk:live": _OPERATE_FORM,
    "desk:live-seen": PageRights(Right.OPERATE),
    "desk:live-end": _OPERATE_ACT,
    "desk:members": _SEE_MEMBERS,
    "desk:members-csv": _SEE_MEMBERS,
    "desk:members-bulk": _MEMBER_ACT,
    "desk:member-add": _MEMBER_FORM,
    "desk:member": _SEE_MEMBERS,
    "desk:check": _SEE_MEMBERS,
    "desk:member-invite": _MEMBER_ACT,
    "desk:invitation-withdraw": _MEMBER_ACT,
    "desk:member-edit": _MEMBER_FORM,
    "desk:member-activate": _MEMBER_ACT,
    "desk:member-leave": _MEMBER_FORM,
    "desk:member-everything": PageRights(Right.CHANGE_MEMBERS),
    "desk:departure-drop": _MEMBER_ACT,
    "desk:member-move": _RULE_FORM,
    "desk:move-drop": _RULE_ACT,
    "desk:holdings": _SEE_MEMBERS,
    "desk:holding-add": _RULE_ACT,
    "desk:holding-release": _RULE_FORM,
    "desk:device-add": _MEMBER_ACT,
    "desk:device-edit": _MEMBER_FORM,
    "desk:device-remove": _MEMBER_FORM,
    "audit:history": _SEE_NETWORK,
    "audit:enquiries": _SEE_NETWORK,
    # network and nat
    "network:addresses": _SEE_NETWORK,
    "network:held": _make_form(Right.SEE_MEMBERS),
    "network:pool": _SEE_NETWORK,
    "network:pool-add": _RULE_FORM,
    "network:pool-edit": _RULE_FORM,
    "nat:forwards": _SEE_MEMBERS,
    "nat:rules": _RULE_PAGE,
    "nat:forwards-csv": _SEE_MEMBERS,
    "nat:forwards-of": _SEE_MEMBERS,
    "nat:forward-add": _RULE_ACT,
    "nat:forward-edit": _RULE_FORM,
    "nat:forward-switch": _RULE_ACT,
    "nat:forward-remove": _RULE_FORM,
    "nat:forward-restore": _RULE_ACT,
    "nat:pinholes": _SEE_MEMBERS,
    "nat:pinholes-csv": _SEE_MEMBERS,
    "nat:pinholes-of": _SEE_MEMBERS,
    "nat:pinhole-add": _RULE_ACT,
    "nat:pinhole-edit": _RULE_FORM,
    "nat:pinhole-switch": _RULE_ACT,
    "nat:pinhole-remove": _RULE_FORM,
    "nat:pinhole-restore": _RULE_ACT,
    "nat:renumber": _RULE_FORM,
    # bans, blocks, listeners
    "bans:lists": _RULE_PAGE,
    "bans:covering": _SEE_MEMBERS,
    "bans:allowed": _RULE_PAGE,
    "bans:allow_entry": _RULE_FORM,
    "bans:disallow": _RULE_FORM,
    "bans:list": _SEE_NETWORK,
    "bans:switch": _RULE_FORM,
    "bans:edit": _RULE_FORM,
    "bans:delete": _RULE_FORM,
    "bans:feed": _RULE_FORM,
    "bans:feed_now": _RULE_ACT,
    "bans:feed_state": _SEE_NETWORK,
    "bans:feed_held": _RULE_FORM,
    "bans:feed_remove": _RULE_FORM,
    "bans:add": _RULE_ACT,
    "bans:bulk": _RULE_ACT,
    "bans:restore": _RULE_ACT,
    "bans:import": _RULE_FORM,
    "bans:preview": _RULE_FORM,
    "bans:download": _SEE_NETWORK,
    "bans:ban": _RULE_PAGE,
    "bans:saved": _SEE_NETWORK,
    "bans:lift": _RULE_FORM,
    "bans:revert": _RULE_ACT,
    "bans:blocks": _SEE_MEMBERS,
    "bans:blocks-bulk": _BLOCK_ACT,
    "bans:block-member": _BLOCK_FORM,
    "bans:block": PageRights(Right.SEE_MEMBERS, Right.BLOCK),
    "bans:block-lift": _BLOCK_FORM,
    "bans:block-restore": _BLOCK_ACT,
    "bans:notice": _RULE_PAGE,
    "bans:reachable-add": _RULE_ACT,
    "bans:reachable-remove": _RULE_ACT,
    "bans:listeners": _RULE_PAGE,
    "bans:server-interface": _RULE_ACT,
    "bans:listener": _RULE_PAGE,
    "bans:listener-remove": _RULE_FORM,
    # rollouts and gateways
    "deployments:rollouts": _SEE_NETWORK,
    "deployments:deploy": _OPERATE_ACT,
    "deployments:rollout": _SEE_NETWORK,
    "deployments:rollout_now": _SEE_NETWORK,
    "deployments:running": _SEE_MEMBERS,
    "deployments:again": _OPERATE_ACT,
    "deployments:delta": _SEE_NETWORK,
    "deployments:stop": _OPERATE_FORM,
    "deployments:pause": _OPERATE_ACT,
    "deployments:resume": _OPERATE_ACT,
    "deployments:waiting": _SEE_NETWORK,
    "deployments:held": _SEE_NETWORK,
    "deployments:approve": _make_button(Right.APPROVE),
    "deployments:refuse": PageRights(Right.APPROVE, Right.APPROVE),
    "deployments:held-text": _SEE_NETWORK,
    "deployments:revisions": _SEE_NETWORK,
    "deployments:compare": _SEE_NETWORK,
    "deployments:compare-text": _SEE_NETWORK,
    "deployments:revision": _SEE_NETWORK,
    "deployments:back": _OPERATE_FORM,
    "deployments:release": _OPERATE_FORM,
    "gateways:list": _SEE_NETWORK,
    "gateways:gateway": _SEE_NETWORK,
    "gateways:edit": _OPERATE_FORM,
    "gateways:put-right": _OPERATE_ACT,
    "gateways:count-again": _OPERATE_ACT,
    "gateways:group": _OPERATE_PAGE,
    "gateways:protection": _OPERATE_PAGE,
    "gateways:limits": _OPERATE_PAGE,
    "gateways:flood": _OPERATE_FORM,
    "gateways:profile": _OPERATE_PAGE,
    # tariffs and rates
    "members:payments": _MEMBER_FORM,
    "members:tariffs": _SEE_MEMBERS,
    "members:tariff-add": _MEMBER_FORM,
    "members:tariff": _MEMBER_FORM,
    "rates:list": _SEE_MEMBERS,
    "rates:limit": _RULE_FORM,
    "rates:release": _RULE_FORM,
    "rates:uplink": _RULE_FORM,
    "rates:switch": _RULE_FORM,
    "fairshare:edit": _RULE_FORM,
    "fairshare:off": _RULE_FORM,
    # mail
    "webhooks:list": PageRights(Right.OPERATE),
    "webhooks:add": _OPERATE_FORM,
    "webhooks:webhook": PageRights(Right.OPERATE),
    "webhooks:edit": _OPERATE_FORM,
    "webhooks:secret": _OPERATE_FORM,
    "webhooks:remove": _OPERATE_FORM,
    "webhooks:ping": _OPERATE_ACT,
    "webhooks:delivery": PageRights(Right.OPERATE),
    "webhooks:again": _OPERATE_ACT,
    "mail:outbox": _SEE_MEMBERS,
    "mail:message": _SEE_MEMBERS,
    "mail:again": _OPERATE_ACT,
    "mail:discard": _OPERATE_FORM,
    "mail:switch-off": PageRights(Right.ANYONE, Right.ANYONE),
    # tickets
    "tickets:list": _SEE_MEMBERS,
    "tickets:new": _make_form(Right.ANSWER),
    "tickets:ticket": PageRights(Right.SEE_MEMBERS, Right.ANSWER),
    "tickets:change": _make_button(Right.ANSWER),
    "tickets:take": _make_button(Right.ANSWER),
    "tickets:assign-member": _make_button(Right.ANSWER),
    "tickets:presence": _make_button(Right.ANSWER),
    "tickets:link": _make_button(Right.ANSWER),
    "tickets:unlink": _make_button(Right.ANSWER),
    "tickets:attachment": _SEE_MEMBERS,
    "tickets:attachment-remove": _make_form(Right.ANSWER),
    "tickets:notices": _make_button(Right.ANSWER),
    "tickets:chart": _SEE_MEMBERS,
    "tickets:chart-csv": _SEE_MEMBERS,
    "tickets:many": _make_button(Right.ANSWER),
    "tickets:sent": _SEE_MEMBERS,
    "tickets:merge": _make_form(Right.ANSWER),
    "tickets:unmerge": _make_button(Right.ANSWER),
    "tickets:split": _make_form(Right.ANSWER),
    "tickets:canned": PageRights(Right.SEE_MEMBERS),
    "tickets:canned-add": _make_form(Right.ANSWER),
    "tickets:canned-edit": _make_form(Right.ANSWER),
    "tickets:canned-remove": _make_form(Right.ANSWER),
    "inbound:arrivals": _SEE_MEMBERS,
    "inbound:arrival": _SEE_MEMBERS,
    "inbound:file": PageRights(Right.CHANGE_MEMBERS),
    "inbound:again": _MEMBER_ACT,
    "inbound:delete": _MEMBER_FORM,
    # traffic
    "traffic:overview": _SEE_MEMBERS,
    "traffic:throughput-csv": _SEE_MEMBERS,
    "traffic:talkers": _SEE_MEMBERS,
    "traffic:talkers-csv": _SEE_MEMBERS,
    "traffic:sums": _SEE_MEMBERS,
    "traffic:sums-csv": _SEE_MEMBERS,
    "traffic:quotas": _SEE_MEMBERS,
    "traffic:quotas-csv": _SEE_MEMBERS,
    "traffic:quota": _MEMBER_FORM,
    "traffic:of": _SEE_MEMBERS,
    "traffic:of-csv": _SEE_MEMBERS,
    "traffic:of-months-csv": _SEE_MEMBERS,
    # members' self-service
    "own:home": PageRights(Right.OWN),
    "own:traffic-csv": PageRights(Right.OWN),
    "own:months-csv": PageRights(Right.OWN),
    "own:everything": PageRights(Right.OWN),
    "own:pinholes": _make_form(Right.OWN),
    "own:pinhole-switch": _make_button(Right.OWN),
    "own:pinhole-close": _make_form(Right.OWN),
    "own:pinhole-reopen": _make_button(Right.OWN),
    "own:check": PageRights(Right.OWN),
    "own:check-ticket": _make_form(Right.OWN),
    "own:settings": _make_form(Right.OWN),
    "own:join": PageRights(Right.ANYONE, Right.ANYONE),
    "own:devices": _make_form(Right.OWN),
    "own:device": _make_form(Right.OWN),
    "own:device-remove": _make_form(Right.OWN),
    "own:tickets": PageRights(Right.OWN),
    "own:ticket-new": _make_form(Right.OWN),
    "own:ticket": _make_form(Right.OWN),
    "own:ticket-attachment": PageRights(Right.OWN),
    "own:port-open": _make_form(Right.OWN),
    "own:port-switch": _make_button(Right.OWN),
    "own:port-close": _make_form(Right.OWN),
    "own:port-reopen": _make_button(Right.OWN),
}

DEVELOPMENT: Final = frozenset({"lib:styleguide"})
"""Pages that only a development checkout has."""

API: Final[dict[str, CollectionRights]] = {
    "member": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "device": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "tariff": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "site": CollectionRights(Right.SEE_MEMBERS),
    "room": CollectionRights(Right.SEE_MEMBERS),
    "pool": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "address": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "mapping": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "forward": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "pinhole": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "banlist": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "ban": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "allowentry": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "feed": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "group": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "block": CollectionRights(Right.SEE_MEMBERS, Right.BLOCK),
    "listener": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "rollout": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "revision": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "approval": CollectionRights(Right.SEE_NETWORK, Right.APPROVE),
    "hold": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "protection": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "limits": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "profile": CollectionRights(Right.SEE_NETWORK, Right.OPERATE),
    "ratelimit": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "gateway": CollectionRights(Right.SEE_NETWORK, Right.OPERATE, {"trace": Right.SEE_MEMBERS}),
    "webhook": CollectionRights(Right.OPERATE, Right.OPERATE),
    "delivery": CollectionRights(Right.OPERATE, Right.OPERATE),
    "uplink": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "ticket": CollectionRights(Right.SEE_MEMBERS, Right.ANSWER),
    "answer": CollectionRights(Right.SEE_MEMBERS),
    "canned": CollectionRights(Right.SEE_MEMBERS, Right.ANSWER),
    "portrules": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "fairshare": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "departure": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "member-invitation": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "move": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "rolechange": CollectionRights(Right.MANAGE_ACCOUNTS),
    "notice": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "reachable": CollectionRights(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "person": CollectionRights(Right.SEE_NETWORK),
    "token": CollectionRights(Right.OWN, Right.OWN),
    "invitation": CollectionRights(Right.MANAGE_ACCOUNTS, Right.MANAGE_ACCOUNTS),
    "quota": CollectionRights(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "usage": CollectionRights(Right.SEE_MEMBERS),
    "address-usage": CollectionRights(Right.SEE_MEMBERS),
    "export": CollectionRights(Right.CHANGE_RULES),
    "enquiry": CollectionRights(Right.SEE_NETWORK, Right.SEE_MEMBERS),
}
ROOT_OF_API: Final = CollectionRights(Right.SEE_MEMBERS)
