"""Which right each page and each action of the API needs: the one place where that stands.

What has no line here is closed to everybody. docs/permissions.md is written from it by `manage.py permissions`, and
tests/db/test_permissions.py asks every route as every role.
"""

from dataclasses import dataclass, field
from typing import Final

from apps.accounts.roles import Right

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Page:
    """The rights to look and to send something; None: the page does not take that at all."""

    see: Right | None
    change: Right | None = None

    def right(self, method: str) -> Right | None:
        return self.see if method in SAFE else self.change


@dataclass(frozen=True)
class Rows:
    """A collection of the API: the right to read, the right to write, and what single actions need instead."""

    read: Right
    write: Right | None = None
    actions: dict[str, Right] = field(default_factory=dict)

    def right(self, action: str, method: str) -> Right | None:
        return self.actions.get(action) or (self.read if method in SAFE else self.write)


def _form(change: Right) -> Page:
    """A page that is there to change something: who may not, does not see it either."""
    return Page(change, change)


def _act(change: Right) -> Page:
    """A button."""
    return Page(None, change)


_SEE_MEMBERS, _SEE_NETWORK = Page(Right.SEE_MEMBERS), Page(Right.SEE_NETWORK)
_MEMBER_FORM, _MEMBER_ACT = _form(Right.CHANGE_MEMBERS), _act(Right.CHANGE_MEMBERS)
_RULE_FORM, _RULE_ACT, _RULE_PAGE = _form(Right.CHANGE_RULES), _act(Right.CHANGE_RULES), Page(Right.SEE_NETWORK, Right.CHANGE_RULES)
_BLOCK_FORM, _BLOCK_ACT = _form(Right.BLOCK), _act(Right.BLOCK)
_OPERATE_FORM, _OPERATE_ACT, _OPERATE_PAGE = _form(Right.OPERATE), _act(Right.OPERATE), Page(Right.SEE_NETWORK, Right.OPERATE)

PAGES: Final[dict[str, Page]] = {
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
        Page(Right.ANYONE, Right.ANYONE),
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
        Page(Right.ANYONE),
    ),
    # one's own account
    "accounts:account": Page(Right.OWN),
    "accounts:keys": _act(Right.OWN),
    "accounts:sessions": Page(Right.OWN),
    "accounts:session-end": _act(Right.OWN),
    "accounts:tokens": _form(Right.OWN),
    "accounts:token-revoke": _form(Right.OWN),
    "accounts:tokens-revoke-all": _act(Right.OWN),
    "accounts:invited": Page(Right.ANYONE, Right.ANYONE),
    "accounts:invitations": _form(Right.MANAGE_ACCOUNTS),
    "accounts:invitation-withdraw": _act(Right.MANAGE_ACCOUNTS),
    "accounts:sessions-end-others": _act(Right.OWN),
    # roles
    "accounts:people": _SEE_NETWORK,
    "accounts:person": _SEE_NETWORK,
    "accounts:roles": _form(Right.MANAGE_ACCOUNTS),
    "accounts:person-sign-out": _act(Right.MANAGE_ACCOUNTS),
    "accounts:person-revoke-tokens": _act(Right.MANAGE_ACCOUNTS),
    "accounts:roles-agree": _act(Right.APPROVE),
    "accounts:roles-drop": _act(Right.DROP_ROLES),
    **dict.fromkeys(("mfa_index", "mfa_list_webauthn", "mfa_view_recovery_codes", "mfa_download_recovery_codes"), Page(Right.OWN)),
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
        _form(Right.OWN),
    ),
    "api-schema": Page(Right.ANYONE),
    "api-docs": Page(Right.ANYONE),
    "set_language": _act(Right.ANYONE),
    "accounts:signed-out": Page(Right.ANYONE),
    "accounts:back-channel-logout": _act(Right.ANYONE),
    "lib:theme": _act(Right.ANYONE),
    "lib:language": _act(Right.ANYONE),
    "lib:styleguide": _SEE_MEMBERS,
    # what outside monitors ask
    "operations:health": Page(Right.ANYONE),
    # desk
    "desk:dashboard": _SEE_MEMBERS,
    "desk:search": _SEE_MEMBERS,
    "desk:why": _SEE_MEMBERS,
    "desk:system": Page(Right.SEE_NETWORK),
    "desk:exports": Page(Right.CHANGE_RULES),
    "desk:export": Page(Right.CHANGE_RULES),
    "desk:live": _OPERATE_FORM,
    "desk:live-seen": Page(Right.OPERATE),
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
    "desk:member-everything": Page(Right.CHANGE_MEMBERS),
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
    "network:held": _form(Right.SEE_MEMBERS),
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
    "bans:block": Page(Right.SEE_MEMBERS, Right.BLOCK),
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
    "deployments:approve": _act(Right.APPROVE),
    "deployments:refuse": Page(Right.APPROVE, Right.APPROVE),
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
    "webhooks:list": Page(Right.OPERATE),
    "webhooks:add": _OPERATE_FORM,
    "webhooks:webhook": Page(Right.OPERATE),
    "webhooks:edit": _OPERATE_FORM,
    "webhooks:secret": _OPERATE_FORM,
    "webhooks:remove": _OPERATE_FORM,
    "webhooks:ping": _OPERATE_ACT,
    "webhooks:delivery": Page(Right.OPERATE),
    "webhooks:again": _OPERATE_ACT,
    "mail:outbox": _SEE_MEMBERS,
    "mail:message": _SEE_MEMBERS,
    "mail:again": _OPERATE_ACT,
    "mail:discard": _OPERATE_FORM,
    "mail:switch-off": Page(Right.ANYONE, Right.ANYONE),
    # tickets
    "tickets:list": _SEE_MEMBERS,
    "tickets:new": _form(Right.ANSWER),
    "tickets:ticket": Page(Right.SEE_MEMBERS, Right.ANSWER),
    "tickets:change": _act(Right.ANSWER),
    "tickets:take": _act(Right.ANSWER),
    "tickets:assign-member": _act(Right.ANSWER),
    "tickets:presence": _act(Right.ANSWER),
    "tickets:link": _act(Right.ANSWER),
    "tickets:unlink": _act(Right.ANSWER),
    "tickets:attachment": _SEE_MEMBERS,
    "tickets:attachment-remove": _form(Right.ANSWER),
    "tickets:notices": _act(Right.ANSWER),
    "tickets:chart": _SEE_MEMBERS,
    "tickets:chart-csv": _SEE_MEMBERS,
    "tickets:many": _act(Right.ANSWER),
    "tickets:sent": _SEE_MEMBERS,
    "tickets:merge": _form(Right.ANSWER),
    "tickets:unmerge": _act(Right.ANSWER),
    "tickets:split": _form(Right.ANSWER),
    "tickets:canned": Page(Right.SEE_MEMBERS),
    "tickets:canned-add": _form(Right.ANSWER),
    "tickets:canned-edit": _form(Right.ANSWER),
    "tickets:canned-remove": _form(Right.ANSWER),
    "inbound:arrivals": _SEE_MEMBERS,
    "inbound:arrival": _SEE_MEMBERS,
    "inbound:file": Page(Right.CHANGE_MEMBERS),
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
    # members' own
    "own:home": Page(Right.OWN),
    "own:traffic-csv": Page(Right.OWN),
    "own:months-csv": Page(Right.OWN),
    "own:everything": Page(Right.OWN),
    "own:pinholes": _form(Right.OWN),
    "own:pinhole-switch": _act(Right.OWN),
    "own:pinhole-close": _form(Right.OWN),
    "own:pinhole-reopen": _act(Right.OWN),
    "own:check": Page(Right.OWN),
    "own:check-ticket": _form(Right.OWN),
    "own:settings": _form(Right.OWN),
    "own:join": Page(Right.ANYONE, Right.ANYONE),
    "own:devices": _form(Right.OWN),
    "own:device": _form(Right.OWN),
    "own:device-remove": _form(Right.OWN),
    "own:tickets": Page(Right.OWN),
    "own:ticket-new": _form(Right.OWN),
    "own:ticket": _form(Right.OWN),
    "own:ticket-attachment": Page(Right.OWN),
    "own:port-open": _form(Right.OWN),
    "own:port-switch": _act(Right.OWN),
    "own:port-close": _form(Right.OWN),
    "own:port-reopen": _act(Right.OWN),
}

DEVELOPMENT: Final = frozenset({"lib:styleguide"})
"""Pages that only a development checkout has."""

API: Final[dict[str, Rows]] = {
    "member": Rows(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "device": Rows(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "tariff": Rows(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "site": Rows(Right.SEE_MEMBERS),
    "room": Rows(Right.SEE_MEMBERS),
    "pool": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "address": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "mapping": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "forward": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "pinhole": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "banlist": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "ban": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "allowentry": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "feed": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "group": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "block": Rows(Right.SEE_MEMBERS, Right.BLOCK),
    "listener": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "rollout": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "revision": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "approval": Rows(Right.SEE_NETWORK, Right.APPROVE),
    "hold": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "protection": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "limits": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "profile": Rows(Right.SEE_NETWORK, Right.OPERATE),
    "ratelimit": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "gateway": Rows(Right.SEE_NETWORK, Right.OPERATE, {"trace": Right.SEE_MEMBERS}),
    "webhook": Rows(Right.OPERATE, Right.OPERATE),
    "delivery": Rows(Right.OPERATE, Right.OPERATE),
    "uplink": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "ticket": Rows(Right.SEE_MEMBERS, Right.ANSWER),
    "answer": Rows(Right.SEE_MEMBERS),
    "canned": Rows(Right.SEE_MEMBERS, Right.ANSWER),
    "portrules": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "fairshare": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "departure": Rows(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "member-invitation": Rows(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "move": Rows(Right.SEE_MEMBERS, Right.CHANGE_RULES),
    "rolechange": Rows(Right.MANAGE_ACCOUNTS),
    "notice": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "reachable": Rows(Right.SEE_NETWORK, Right.CHANGE_RULES),
    "person": Rows(Right.SEE_NETWORK),
    "token": Rows(Right.OWN, Right.OWN),
    "invitation": Rows(Right.MANAGE_ACCOUNTS, Right.MANAGE_ACCOUNTS),
    "quota": Rows(Right.SEE_MEMBERS, Right.CHANGE_MEMBERS),
    "usage": Rows(Right.SEE_MEMBERS),
    "address-usage": Rows(Right.SEE_MEMBERS),
    "export": Rows(Right.CHANGE_RULES),
    "enquiry": Rows(Right.SEE_NETWORK, Right.SEE_MEMBERS),
}
ROOT_OF_API: Final = Rows(Right.SEE_MEMBERS)
