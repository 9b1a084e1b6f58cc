"""URLs of pages and API."""

from django.urls import URLPattern, URLResolver, include, path

from apps.accounts import views_sso
from apps.accounts.passkeys import PasskeyLogin
from apps.desk.exports import api as exports
from apps.lib.api.openapi import views as openapi
from apps.metrics import api as metrics
from portal.api import router

handler404, handler500 = "apps.lib.api.problems.not_found", "apps.lib.web.database_outage.explain_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/schema/", openapi.schema, {"router": router}, name="api-schema"),
    path("api/docs/", openapi.docs, {"router": router}, name="api-docs"),
    path("", include(([path("api/", include([*router.urls, *exports.urlpatterns])), *metrics.urlpatterns], "api"))),
    path("account/logout/", views_sso.SignOut.as_view(), name="account_logout"),
    # allauth's own routes of these names would take any text for the provider, also one with NUL, which fails in the database
    path("account/oidc/<slug:provider_id>/login/", views_sso.login, name="openid_connect_login"),
    path("account/oidc/<slug:provider_id>/login/callback/", views_sso.callback, name="openid_connect_callback"),
    path("account/", include("apps.accounts.urls")),
    path("account/", include("allauth.account.urls")),
    path("account/second-factor/webauthn/login/", PasskeyLogin.as_view(), name="mfa_login_webauthn"),
    path("account/second-factor/", include("allauth.mfa.urls")),
    path("account/single-sign-on/", include("allauth.socialaccount.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("apps.operations.urls")),
    path("", include("apps.lib.urls")),
    path("", include("apps.nat.urls")),
    path("", include("apps.members.urls")),
    path("", include("apps.traffic.urls")),
    path("limited/", include("apps.traffic.rates.urls")),
    path("fair-share/", include("apps.traffic.fairshare.urls")),
    path("mail/in/", include("apps.inbound_mail.urls")),
    path("mail/", include("apps.mail.urls")),
    path("alarms/", include("apps.alarms.urls")),
    path("", include("apps.status.urls")),
    path("webhooks/", include("apps.webhooks.urls")),
    path("tickets/", include("apps.tickets.urls")),
    path("announcements/", include("apps.announcements.urls")),
    path("bans/", include("apps.bans.urls")),
    path("rollouts/", include("apps.deployments.urls")),
    path("gateways/", include("apps.gateways.urls")),
    path("me/", include("apps.desk.self_service.urls")),
    path("", include("apps.desk.urls_network")),
    path("", include("apps.desk.urls_audit")),
    path("", include("apps.desk.urls")),
]
