"""Settings of the portal, all read from the environment (docs/settings.md lists them).

The defaults describe a development checkout, with state under var/. Only NETZWART_SECRET_KEY has no default.
"""

import os
from pathlib import Path
from socket import gethostname
from urllib.parse import urlsplit

import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

from portal.broker_address import parse_broker_addresses
from portal.environment_reader import EnvironmentReader

django_stubs_ext.monkeypatch()  # lets Django's generic classes accept type arguments at run time

_env = EnvironmentReader(os.environ)
ROOT = Path(__file__).resolve().parent.parent
VAR = Path(_env.read_text("NETZWART_VAR", str(ROOT / "var")))

DEBUG = _env.read_switch("NETZWART_DEBUG")
SECRET_KEY = _env.read_secret("NETZWART_SECRET_KEY")
if not SECRET_KEY:
    raise ImproperlyConfigured("NETZWART_SECRET_KEY is not set. Give it 50 random characters, or use script/server.")
# Earlier keys: what they signed or encrypted is still accepted
SECRET_KEY_FALLBACKS = [key for key in _env.read_secret("NETZWART_SECRET_KEY_FALLBACKS").split(",") if key]
ALLOWED_HOSTS = _env.read_list("NETZWART_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "pgtrigger",
    "pghistory",
    "apps.lib",
    "apps.operations",
    "apps.preferences",
    "apps.audit",
    "apps.accounts",
    "apps.mail",
    "apps.inbound_mail",
    "apps.members",
    "apps.events",
    "apps.network",
    "apps.nat",
    "apps.bans",
    "apps.deployments",
    "apps.traffic",
    "apps.gateways",
    "apps.tickets",
    "apps.announcements",
    "apps.webhooks",
    "apps.desk",
    "apps.alarms",
    "apps.status",
    "apps.metrics",
]
_APP_LABELS = {app: app.removeprefix("apps.") for app in INSTALLED_APPS if app.startswith("apps.")} | {"apps.inbound_mail": "inbound"}
MIGRATION_MODULES = {label: f"migrations.{label}" for label in _APP_LABELS.values()}

MIDDLEWARE = [
    "apps.lib.web.request_ids.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "apps.lib.web.static_files.StaticFilesMiddleware",
    "apps.lib.web.page_compression.PageCompressionMiddleware",
    "apps.accounts.cache_headers.NoStoreMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.session_limits.SessionLimitsMiddleware",
    "apps.accounts.language_middleware.LanguageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.accounts.sessions.LastSeenMiddleware",
    "pghistory.middleware.HistoryMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "apps.accounts.permissions.PermissionMiddleware",
    "apps.accounts.second_factor_required.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "apps.accounts.hashing.HashingLimitMiddleware",
    "apps.lib.web.database_outage.DatabaseOutageMiddleware",
    "apps.lib.web.request_cache.RequestCacheMiddleware",
]

# OTLP/HTTP endpoint for traces of changes; empty: none, and nothing of OpenTelemetry is imported
TRACES_URL = _env.read_matching("NETZWART_TRACES_URL", "", r"(https?://[^/\s]+/\S*)?", "http://127.0.0.1:4318/v1/traces")
if TRACES_URL:
    MIDDLEWARE.insert(0, "apps.lib.web.request_tracing.RequestTracingMiddleware")

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.lib.web.context_processors.page",
                "apps.preferences.context_processors.provide_network_name",
                "apps.accounts.second_factor_required.build_second_factor_context",
            ],
            "builtins": ["apps.lib.templatetags.netzwart", "apps.accounts.templatetags.rights"],
        },
    },
]


# reconnect_timeout is short because a pool that keeps retrying backs off, up to minutes after the outage; one that has given up retries
# when the next connection is requested
POOL = {"min_size": 1, "max_size": 8, "timeout": 5, "reconnect_timeout": 2}  # seconds


# The planner believes that a page's query over many joined tables is expensive, and PostgreSQL then compiles it: 50 ms for 2 ms of work
NO_COMPILING = "-c jit=off"


def parse_database_url(url: str, *, pooled: bool = False) -> dict[str, object]:
    """Convert a libpq connection string to Django's form; libpq parameters for which Django has no name go to OPTIONS.

    pooled: PgBouncer answers there, and gives each transaction another connection: it takes no options, and cursors end with a transaction.
    """
    given = conninfo_to_dict(url)
    if not pooled:
        given["options"] = f"{NO_COMPILING} {given.get('options') or ''}".strip()  # the last one counts, so an address may decide otherwise
    named = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    settings = {name: given.pop(key, "") for name, key in named.items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **settings,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": {**given, "pool": POOL},
    }


# Seconds that a query of a page or of the API may wait for a lock, and may run; workers and commands have no limit
LOCK_SECONDS = _env.read_number("NETZWART_LOCK_SECONDS", 5, least=0.1, most=3600)
STATEMENT_SECONDS = _env.read_number("NETZWART_STATEMENT_SECONDS", 60, least=0.1, most=3600)
# With PgBouncer in NETZWART_DATABASE_URL: past it, for commands and LISTEN; and a second entry of it, whose connections have both limits
DATABASE_DIRECT_URL = _env.read_database("NETZWART_DATABASE_DIRECT_URL")
DATABASE_WEB_URL = _env.read_database("NETZWART_DATABASE_WEB_URL")
DATABASE_IS_POOLED = bool(DATABASE_DIRECT_URL)
if bool(DATABASE_DIRECT_URL) != bool(DATABASE_WEB_URL):
    _env.refuse_together(
        "NETZWART_DATABASE_DIRECT_URL and NETZWART_DATABASE_WEB_URL belong together: with PgBouncer set both, "
        "without it none (docs/scale.md)."
    )
DATABASES = {"default": parse_database_url(_env.read_database("NETZWART_DATABASE_URL", "dbname=netzwart"), pooled=DATABASE_IS_POOLED)}
DATABASE_OF_PAGES = parse_database_url(DATABASE_WEB_URL, pooled=True)
# Broker of tasks, if it is not the Redis below: addresses of RabbitMQ's nodes
try:
    BROKER_URL = parse_broker_addresses(_env.read_secret("NETZWART_BROKER_URL"))
except ValueError as mistake:
    _env.refuse("NETZWART_BROKER_URL", str(mistake), shown=False)
REDIS_URL = _env.read_url("NETZWART_REDIS_URL", "redis://localhost:6379/0", schemes=("redis", "rediss", "unix"))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["apps.accounts.backend.ByPassword"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "desk:dashboard"
LOGOUT_REDIRECT_URL = "account_login"
PASSWORD_HASHERS = ["apps.accounts.hashing.BoundedPBKDF2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Signing in. Staff without a second factor can only set one up
REQUIRE_SECOND_FACTOR = _env.read_switch("NETZWART_REQUIRE_SECOND_FACTOR", default=True)
# Staff are signed out after so many hours without activity, and after so many days in any case
STAFF_IDLE_SECONDS = _env.read_whole("NETZWART_STAFF_IDLE_HOURS", 12, most=8760) * 3600
STAFF_SESSION_SECONDS = _env.read_whole("NETZWART_STAFF_SESSION_DAYS", 7, most=365) * 86400
# Trust X-Forwarded-For from these proxies before the portal; otherwise the packet's source address counts
TRUSTED_PROXIES = _env.read_networks("NETZWART_TRUSTED_PROXIES")
ACCOUNT_ADAPTER = "apps.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "apps.accounts.forms.LoginForm",
    "change_password": "apps.accounts.forms.ChangePasswordForm",
    "reset_password": "apps.accounts.forms.ForgottenPasswordForm",
    "reset_password_from_key": "apps.accounts.forms.ResetPasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_CONFIRM_EMAIL_ON_GET = False
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_PREVENT_ENUMERATION = True
MFA_ADAPTER = "apps.accounts.adapter.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "apps.accounts.second_factor_forms.SignInCodeForm",
    "reauthenticate": "apps.accounts.second_factor_forms.RecentAuthCodeForm",
    "add_webauthn": "apps.accounts.second_factor_forms.AddKeyForm",
    "authenticate_webauthn": "apps.accounts.second_factor_forms.SignInKeyForm",
    "login_webauthn": "apps.accounts.second_factor_forms.KeyAloneForm",
    "reauthenticate_webauthn": "apps.accounts.second_factor_forms.RecentAuthKeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1  # periods before and after: RFC 6238 section 5.2 recommends one for the way to the portal, and for clocks
MFA_ALLOW_UNVERIFIED_EMAIL = True  # administrators create accounts, so there is no sign-up with another member's address
SOCIALACCOUNT_ADAPTER = "apps.accounts.sso.SingleSignOnAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
# OpenID provider for single sign-on; empty: none
_OIDC_URL = _env.read_url("NETZWART_OIDC_URL")
_OIDC_ORIGIN = (
    ["{0.scheme}://{0.netloc}".format(urlsplit(_OIDC_URL))] if _OIDC_URL else []
)  # form-action must allow it: a form redirects browsers there
_OIDC_APP = {
    "provider_id": "sso",
    "name": _env.read_text("NETZWART_OIDC_NAME", "OpenID"),
    "client_id": _env.read_text("NETZWART_OIDC_CLIENT_ID"),
    "secret": _env.read_secret("NETZWART_OIDC_CLIENT_SECRET"),
    "settings": {"server_url": _OIDC_URL},
}
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [_OIDC_APP] if _OIDC_URL else []}}
USERSESSIONS_TRACK_ACTIVITY = False  # would write at each request; apps/accounts/sessions.py records it every five minutes
CACHES = {
    "default": {
        "BACKEND": "apps.accounts.bounded_cache.BoundedCache",
        "LOCATION": "netzwart:slot",
    },  # for rate limits: of bounded size, shared by all processes
    "local": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}

# Outgoing mail is written into the outbox (apps/mail); a worker passes it to a server, or without one writes files under VAR
MAILERS = {"default": {"BACKEND": "apps.mail.backend.Outbox"}}
_MAIL_TLS = {"": "", "0": "", "1": "starttls", "starttls": "starttls", "tls": "tls"}
_mail_tls = _env.read_choice("NETZWART_MAIL_TLS", _MAIL_TLS, "starttls, tls (from the first octet, port 465) or empty")
_mail_host, _mail_port = _env.read_host("NETZWART_MAIL_SERVER", 465 if _mail_tls == "tls" else 25)
MAIL_SERVER = {
    "host": _mail_host,
    "port": _mail_port,
    "tls": _mail_tls,
    "user": _env.read_text("NETZWART_MAIL_USER"),
    "password": _env.read_secret("NETZWART_MAIL_PASSWORD"),
}
# Tickets: the support address, from which the addresses of single tickets are derived; limits of attachments, and their allowed extensions
SUPPORT_ADDRESS = _env.read_text("NETZWART_SUPPORT_ADDRESS")
ATTACHMENT_OCTETS = _env.read_whole("NETZWART_ATTACHMENT_MIB", 10, most=1024) << 20
ATTACHMENTS_MEMBER_OCTETS = _env.read_whole("NETZWART_ATTACHMENTS_MEMBER_MIB", 200) << 20
ATTACHMENTS_TOTAL_OCTETS = _env.read_whole("NETZWART_ATTACHMENTS_TOTAL_MIB", 10240) << 20
_ENDINGS = (
    "bmp,conf,csv,doc,docx,eml,gif,gz,har,heic,ics,jpeg,jpg,json,log,md,odp,ods,odt,ovpn,pcap,pcapng,pdf,png,"
    "ppt,pptx,rtf,tar,txt,webp,xls,xlsx,xml,yaml,yml,zip"
)
ATTACHMENT_TYPES = frozenset(each.lower() for each in _env.read_list("NETZWART_ATTACHMENT_TYPES", _ENDINGS))

KEEP_MAIL_DAYS = _env.read_whole("NETZWART_KEEP_MAIL_DAYS", 30, most=3650)
# Inbound mail (apps/inbound_mail): the largest size of one mail, and the mailbox to fetch from (empty: none)
MAIL_IN_MIB = _env.read_whole("NETZWART_MAIL_IN_MIB", 25, most=25)  # the process that parses a mail has 256 MiB of memory
MAIL_IN_OCTETS = MAIL_IN_MIB << 20
MAIL_IN_IMAP = _env.read_secret("NETZWART_MAIL_IN_IMAP")
# Name of our own receiving mail server in its Authentication-Results (authserv-id of RFC 8601); empty: no result about a sender is trusted
MAIL_IN_AUTHSERV_ID = _env.read_text("NETZWART_MAIL_IN_AUTHSERV_ID")
MAIL_IN_PASSWORD = _env.read_secret("NETZWART_MAIL_IN_PASSWORD")
DEFAULT_FROM_EMAIL = _env.read_text("NETZWART_MAIL_FROM", "netzwart@localhost")

# URL of the portal, for links in mail that is not sent from a page
PORTAL_URL = _env.read_url("NETZWART_URL", "http://127.0.0.1:8000").rstrip("/")
# The process of live events (apps/events): its address for browsers, a path or a whole URL; empty: there is none, and pages poll.
# Maximum number of streams in all, and of one person; seconds between two checks of a reader's rights, and until a stream ends
EVENTS_URL = _env.read_url("NETZWART_EVENTS_URL", paths=True)
EVENTS_STREAMS = _env.read_whole("NETZWART_EVENTS_STREAMS", 2000)
EVENTS_STREAMS_EACH = _env.read_whole("NETZWART_EVENTS_STREAMS_EACH", 6)
EVENTS_CHECK_SECONDS = _env.read_number("NETZWART_EVENTS_CHECK_SECONDS", 30, least=0.01, most=3600)
EVENTS_STREAM_SECONDS = _env.read_number("NETZWART_EVENTS_STREAM_SECONDS", 600, least=0.01, most=86400)

# Name of this machine, or container, among several that run the portal's programs
HOST_NAME = _env.read_matching("NETZWART_HOST_NAME", gethostname(), r"[A-Za-z0-9._-]{1,64}", "portal-1")

# Zone of the names of members' devices in the DNS export
_DNS_NAME = r"\.?[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*\.?"
DNS_ZONE = _env.read_matching("NETZWART_DNS_ZONE", "members.home.arpa", _DNS_NAME, "members.example.org").strip(".").lower()
NETWORK_NAME = _env.read_text("NETZWART_NETWORK_NAME", "Lindenhof")
# The lab, for workers that reach the agents in it: its name and its state directory. Empty name: no lab on this machine.
LAB_NAME = _env.read_text("NETZWART_LAB_NAME")
LAB_STATE = Path(_env.read_text("NETZWART_LAB_STATE", str(VAR / "lab")))
# Directory of the sockets of agents on this machine itself (in-memory gateways): GATEWAY_SOCKETS/<name>.sock
GATEWAY_SOCKETS = Path(_env.read_text("NETZWART_GATEWAY_SOCKETS", str(VAR / "gateways")))
# The portal's own ssh key, with which workers reach gateways, and the directory of the known host keys for ssh
SSH_KEY = Path(_env.read_text("NETZWART_SSH_KEY", str(VAR / "ssh" / "id_ed25519")))
SSH_KNOWN_HOSTS = Path(_env.read_text("NETZWART_SSH_KNOWN_HOSTS", str(VAR / "ssh" / "known_hosts.d")))

# Trust X-Forwarded-For from these proxies before the notice page; otherwise the packet's source address counts
NOTICE_PROXIES = _env.read_networks("NETZWART_NOTICE_PROXIES")

# Days that the content of revisions is kept; then the seconds between two reconciliations (besides those after a change), two heartbeats
# of a process, and two readings of the gateways' counters
KEEP_REVISIONS_DAYS = _env.read_whole("NETZWART_KEEP_REVISIONS_DAYS", 90, most=3650)
RECONCILE_SECONDS = _env.read_number("NETZWART_RECONCILE_SECONDS", 30, least=0.1, most=3600)
HEARTBEAT_SECONDS = _env.read_number("NETZWART_HEARTBEAT_SECONDS", 5, least=0.1, most=3600)
COLLECT_SECONDS = _env.read_number("NETZWART_COLLECT_SECONDS", 60, least=0.1, most=3600)

# More than a gateway's fastest interface can carry, in Mbit/s: a reading above this is rejected
LINE_MBITS = _env.read_number("NETZWART_LINE_MBITS", 400_000, least=1, most=100_000_000)

# Members who have left: days that their addresses are kept for them, and days until their personal data are erased
HOLD_DAYS = _env.read_whole("NETZWART_HOLD_DAYS", 14, least=0, most=365)
ERASE_DAYS = _env.read_whole("NETZWART_ERASE_DAYS", 180, most=3650)

# Feeds of ban lists: directory from which files may be read (empty: none); allow hosts outside the public internet, or in our own networks;
# seconds that fetching may take
FEED_DIRECTORY = _env.read_text("NETZWART_FEED_DIRECTORY")
FEED_PRIVATE = _env.read_switch("NETZWART_FEED_PRIVATE")
FEED_SECONDS = _env.read_number("NETZWART_FEED_SECONDS", 120, least=0.1, most=3600)

# A directory on the disk of the database, if that is seen from here and PostgreSQL does not tell it
DATABASE_DISK = _env.read_text("NETZWART_DATABASE_DISK")

# Address of an outside service that is called once a minute while the portal works, and tells people when it is not
SIGN_OF_LIFE_URL = _env.read_url("NETZWART_SIGN_OF_LIFE_URL")

# Networks from which /metrics can be read without a token
METRICS_NETWORKS = _env.read_networks("NETZWART_METRICS_NETWORKS")

# Webhooks: allow addresses without TLS; networks that are allowed although outside the public internet, or our own; days to keep the log
WEBHOOK_HTTP = _env.read_switch("NETZWART_WEBHOOK_HTTP")
WEBHOOK_NETWORKS = _env.read_networks("NETZWART_WEBHOOK_NETWORKS")
KEEP_WEBHOOK_DAYS = _env.read_whole("NETZWART_KEEP_WEBHOOK_DAYS", 30, most=3650)

# One JSON object a line, for programs that collect logs; otherwise text for people
LOGS_AS_JSON = _env.read_choice("NETZWART_LOGS", {"": False, "text": False, "json": True}, "text or json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "expected": {"()": "apps.lib.web.log_filters.WithoutExpectedTracebacks"},
        "secrets": {"()": "apps.lib.web.log_filters.WithoutSecretPaths"},
    },
    "formatters": {"line": {"()": f"apps.lib.log_context.{'Json' if LOGS_AS_JSON else 'Context'}Formatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["expected", "secrets"], "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        # Tasks come again and again, and would bury the important messages; failed ones are told
        **{name: {"level": "WARNING"} for name in ("celery.app.trace", "celery.worker.strategy")},
        "netzwart.moments": {"level": "DEBUG" if _env.read_text("NETZWART_MOMENTS") else "WARNING"},
    },
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [ROOT / "locale", ROOT / "locale" / "packages"]  # our texts, and our own wording for texts of packages
USE_TZ = True
TIME_ZONE = _env.read_zone("NETZWART_TIME_ZONE", "Europe/Berlin")

STATIC_URL = "static/"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "apps.lib.web.static_files.FingerprintedStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# Hosts with only an IPv4 or only an IPv6 address that serve the portal's static files, to test a browser's reachability; empty: not tested
CHECK_HOSTS = {4: _env.read_text("NETZWART_CHECK_IPV4_HOST"), 6: _env.read_text("NETZWART_CHECK_IPV6_HOST")}

_EVENTS_ORIGIN = (
    ["{0.scheme}://{0.netloc}".format(urlsplit(EVENTS_URL))] if "://" in EVENTS_URL else []
)  # otherwise it is the portal's own origin
SECURE_CSP = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'", "data:", *filter(None, CHECK_HOSTS.values())],
    "font-src": ["'self'"],
    "connect-src": ["'self'", *_EVENTS_ORIGIN],
    "form-action": ["'self'", *_OIDC_ORIGIN],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    "manifest-src": ["'self'"],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_ENGINE = "apps.accounts.session_engine"
SESSION_COOKIE_HTTPONLY = True
# 1: a proxy before the portal speaks TLS. 0: passwords cross the network in clear text, which has to be chosen explicitly
_HTTPS = _env.read_choice("NETZWART_HTTPS", {"": "", "0": "0", "1": "1"}, "1 behind a proxy that speaks TLS, otherwise 0 or empty")
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}
if _HTTPS == "" and not set(ALLOWED_HOSTS) <= _LOCAL_HOSTS:
    _env.refuse_together(
        "NETZWART_ALLOWED_HOSTS names a host that others can reach, but NETZWART_HTTPS is not set. "
        "Put a proxy with TLS in front and set NETZWART_HTTPS=1 (docs/live.md). With NETZWART_HTTPS=0 passwords can be read in transit."
    )
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _HTTPS == "1"
# Browsers accept a cookie with this prefix only over TLS, from this host, for all paths (RFC 6265bis, 4.1.3.2): no other host can set it
_COOKIE_PREFIX = "__Host-" if SESSION_COOKIE_SECURE else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid", f"{_COOKIE_PREFIX}csrftoken"
# Browsers use only TLS for this host for a year; its subdomains are not ours to decide. Requests without TLS are redirected to TLS
SECURE_HSTS_SECONDS = 31_536_000 if SESSION_COOKIE_SECURE else 0
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE
SECURE_REDIRECT_EXEMPT = [r"^(health|healthz|readyz)$"]  # monitors and load balancers ask without TLS; the answers hold no secret
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # subdomains and the browsers' preload list: see the comment on HSTS above
CSRF_FAILURE_VIEW = "apps.accounts.csrf.csrf_failure"
# Trust X-Forwarded-Proto from the proxy; links, and the origins that forms are accepted from, depend on it
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SESSION_COOKIE_SECURE else None
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if SESSION_COOKIE_SECURE else "http"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not SESSION_COOKIE_SECURE  # browsers allow that for localhost alone

# Requests per minute of one token, or of one person with a browser; up to a sixth of them at once
API_RATE = _env.read_whole("NETZWART_API_RATE", 12000, most=1_000_000_000)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.accounts.permissions.RolePermission", "apps.accounts.recent_auth.RecentAuthPermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.lib.api.negotiation.Negotiation",
    "DEFAULT_PARSER_CLASSES": ["apps.lib.api.parsers.StrictJsonParser"],
    "DEFAULT_PAGINATION_CLASS": "apps.lib.api.paging.LimitOrCursorPagination",
    "DEFAULT_FILTER_BACKENDS": ["apps.lib.api.filters.DeclaredFilterBackend"],
    "DEFAULT_THROTTLE_CLASSES": ["apps.accounts.throttle.ApiThrottle"],
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS is refused: /api/schema/ describes every operation
    "PAGE_SIZE": 50,
    "EXCEPTION_HANDLER": "apps.lib.api.problems.explain_exception",
}

_env.check()
