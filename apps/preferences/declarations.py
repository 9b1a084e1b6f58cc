"""Settings that the people of a network change on a page. A new one is a declaration here and a migration that adds its column.

Secrets, commands, paths and addresses of servers are not among them: they stay in the environment (portal/settings.py).
docs/adr/0028-settings-on-a-page.md says of each constant where it is set, and why.
"""

from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.preferences.setting import (
    DAYS,
    HOURS,
    MESSAGES,
    MINUTES,
    PORTS,
    ChoiceSetting,
    NumberSetting,
    PortsSetting,
    Setting,
    SettingSection,
    TextSetting,
)

NETWORK_NAME: Final = TextSetting(
    name="network_name",
    section=SettingSection.NETWORK,
    label=_("Name of the network"),
    help=_("In the navigation, in titles, in mails and on the page that blocked members get."),
    default="Lindenhof",
    variable="NETZWART_NETWORK_NAME",
    longest=60,
)
CONTACT: Final = TextSetting(
    name="contact",
    section=SettingSection.NETWORK,
    label=_("Contact"),
    help=_("Whom members ask: below each mail, and on the page that blocked members get where the group’s notice names nobody else."),
    default="",
    longest=200,
    required=False,
)
DEFAULT_LANGUAGE: Final = ChoiceSetting(
    name="default_language",
    section=SettingSection.NETWORK,
    label=_("Default language"),
    help=_("For new members, and for mails and notices to people whose language is unknown. Pages follow the browser."),
    default="en",
    choices=tuple(settings.LANGUAGES),
)
DUTY_MINUTES: Final = NumberSetting(
    name="duty_minutes",
    section=SettingSection.NETWORK,
    label=_("Others are told of an alarm after"),
    help=_("If the person on duty, or anybody else, has not pressed “Seen” by then. Without a duty rota everybody is told at once."),
    default=10,
    unit=MINUTES,
    least=1,
    most=1440,
)
LOWEST_PORT: Final = NumberSetting(
    name="lowest_port",
    section=SettingSection.PORTS,
    label=_("Lowest port"),
    help=_(
        "For gateway groups without rules of their own, like the two below. Administrators can open lower ones; what is open stays open."
    ),
    default=1024,  # lower ports are system ports (RFC 6335, 6)
    least=1,
    most=65535,
)
LONGEST_RANGE: Final = NumberSetting(
    name="longest_range",
    section=SettingSection.PORTS,
    label=_("Longest range"),
    help=_("How many ports in a row a member may open at once. Longer ranges that are open stay open."),
    default=20,  # public addresses are shared
    unit=PORTS,
    least=1,
    most=1000,
)
FORBIDDEN_PORTS: Final = PortsSetting(
    name="forbidden_ports",
    section=SettingSection.PORTS,
    label=_("Forbidden ports"),
    help=_("Ports that no member may open, like 1900, 5060-5061. What is open stays open."),
    default=[],
)
INVITATION_DAYS: Final = NumberSetting(
    name="invitation_days",
    section=SettingSection.MEMBERS,
    label=_("Invitations hold for"),
    help=_("How long the link in an invitation works. Invitations that were sent already keep their end."),
    default=7,
    unit=DAYS,
    least=1,
    most=60,
)
HOLD_DAYS: Final = NumberSetting(
    name="hold_days",
    section=SettingSection.MEMBERS,
    label=_("Addresses of members who left are kept for"),
    help=_("In case they come back. 0: their addresses are free at once. A change also applies to members who have left already."),
    default=14,
    variable="NETZWART_HOLD_DAYS",
    unit=DAYS,
    least=0,
    most=365,
)
ERASE_DAYS: Final = NumberSetting(
    name="erase_days",
    section=SettingSection.MEMBERS,
    label=_("Personal data of members who left are kept for"),
    help=_("Then they are erased, which cannot be undone. At least as long as their addresses are kept."),
    default=180,
    variable="NETZWART_ERASE_DAYS",
    unit=DAYS,
    least=1,
    most=3650,
)
MESSAGES_AN_HOUR: Final = NumberSetting(
    name="messages_an_hour",
    section=SettingSection.MEMBERS,
    label=_("Messages that a member may write in an hour"),
    help=_("To tickets, on the pages. So that no member can fill the database."),
    default=30,
    unit=MESSAGES,
    least=1,
    most=1000,
)
KEEP_FIVE_MINUTES_DAYS: Final = NumberSetting(
    name="keep_five_minutes_days",
    section=SettingSection.RETENTION,
    label=_("Usage in steps of five minutes"),
    help=_("What each member used, in the finest steps. A shorter time drops older usage within minutes, and nothing brings it back."),
    default=7,
    unit=DAYS,
    least=2,
    most=60,
)
KEEP_HOURS_DAYS: Final = NumberSetting(
    name="keep_hours_days",
    section=SettingSection.RETENTION,
    label=_("Usage by the hour"),
    help=_("As above: older usage is dropped within minutes, and nothing brings it back."),
    default=90,
    unit=DAYS,
    least=7,
    most=400,
)
KEEP_DAYS_DAYS: Final = NumberSetting(
    name="keep_days_days",
    section=SettingSection.RETENTION,
    label=_("Usage by the day and week"),
    help=_("Also the throughput of the gateways, and the gaps in their readings."),
    default=730,
    unit=DAYS,
    least=31,
    most=3660,
)
KEEP_MAIL_DAYS: Final = NumberSetting(
    name="keep_mail_days",
    section=SettingSection.RETENTION,
    label=_("Text of mails"),
    help=_("What mails said, sent and received; when they were sent, and to whom, stays. A shorter time erases within the hour."),
    default=30,
    variable="NETZWART_KEEP_MAIL_DAYS",
    unit=DAYS,
    least=1,
    most=3650,
)
KEEP_REVISIONS_DAYS: Final = NumberSetting(
    name="keep_revisions_days",
    section=SettingSection.RETENTION,
    label=_("Content of revisions"),
    help=_("For that long, revisions can be compared, and a group can go back to them."),
    default=90,
    variable="NETZWART_KEEP_REVISIONS_DAYS",
    unit=DAYS,
    least=1,
    most=3650,
)
KEEP_WEBHOOK_DAYS: Final = NumberSetting(
    name="keep_webhook_days",
    section=SettingSection.RETENTION,
    label=_("Log of webhooks"),
    help=_("What webhooks were told, and what they answered."),
    default=30,
    variable="NETZWART_KEEP_WEBHOOK_DAYS",
    unit=DAYS,
    least=1,
    most=3650,
)
KEEP_HITS_DAYS: Final = NumberSetting(
    name="keep_hits_days",
    section=SettingSection.RETENTION,
    label=_("Hits of addresses that are no longer banned"),
    help=_("Counted from the last hit. Hits of banned addresses are kept as long as the ban."),
    default=90,
    unit=DAYS,
    least=1,
    most=3650,
)
KEEP_BAN_HISTORY_DAYS: Final = NumberSetting(
    name="keep_ban_history_days",
    section=SettingSection.RETENTION,
    label=_("History of bans that a feed brought"),
    help=_("Counted from the day on which the feed dropped them. What people banned or lifted stays in the history."),
    default=90,
    unit=DAYS,
    least=7,
    most=3650,
)
BACKUP_HOURS: Final = NumberSetting(
    name="backup_hours",
    section=SettingSection.PORTAL,
    label=_("A backup is too old after"),
    help=_("The dashboard warns when the last backup that “manage.py note_backup” noted is older. Nothing is said if none was ever noted."),
    default=48,
    unit=HOURS,
    least=1,
    most=8760,
)

SETTINGS: Final[tuple[Setting[Any], ...]] = tuple(each for each in list(globals().values()) if isinstance(each, Setting))
"""All settings, in the order of their declarations."""
