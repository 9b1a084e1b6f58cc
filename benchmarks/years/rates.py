"""What a network writes into its database in a month, as numbers.

Rates of people are those of a dormitory network: assumptions, chosen rather too high. Rates of the portal come from its schedule
(`workers/app.py`) and from constants of the code.
"""

from typing import Final

# People; per member, if nothing else is said
TURNOVER: Final = 0.4  # of the members move out in a year and are replaced: they stay for two and a half years
DEVICES: Final = 2
WITH_FORWARDS: Final = 0.15  # of the members, as in `benchmarks.networks`
FORWARDS: Final = 3  # of each of them
TICKETS: Final = 0.5  # a year
MESSAGES: Final = 3  # per ticket
WITH_ATTACHMENT: Final = 0.1  # of the tickets
ATTACHMENT: Final = 60_000  # octets, of a picture of a screen
MAILS: Final = 1  # a month: answers, notices and announcements
MAIL_TEXT: Final = 1_500  # octets, of a rendered mail; until they are erased
MAIL_HTML: Final = 6_000
ARRIVALS: Final = 0.05  # mails from members a month
ARRIVAL: Final = 8_000  # octets
SIGN_INS: Final = 2  # a month
LIMITED: Final = 0.02  # members whose speed a quota limits, in a month
BLOCKED: Final = 0.002  # members blocked in a month
FEED: Final = 5  # bans on the list that a feed fills: 30,000 for 6,000 members
FEED_A_DAY: Final = 1 / 3  # of them new each day, and as many gone: 2,000 each for 6,000 members

# The portal, whatever the number of members
HOLD_DAYS: Final = 14  # addresses of members who left stay theirs (apps.preferences, hold_days)
ERASE_DAYS: Final = 180  # then their personal data is erased (erase_days)
IMPORTS_A_DAY: Final = 24  # of the feed
ROLLOUTS_A_DAY: Final = 40  # one per import, and the changes of people
DELTA: Final = 600  # octets of a revision's text
CONTENT: Final = 1_500  # octets of a revision's packed change
WHOLE_CONTENT: Final = 40  # octets per member of a revision stored whole, packed
WHOLE_EVERY: Final = 100  # revisions (apps.deployments.revision_pages.contents)
DELIVERIES_A_DAY: Final = 100  # to webhooks
EVENTS_A_DAY: Final = 200  # of pages that are open
ANSWERS_A_DAY: Final = 50  # of idempotent requests
ALARMS: Final = 10  # a month
ANNOUNCEMENTS: Final = 1  # a month, to everybody
SAMPLE_VALUES: Final = 40  # figures in a sum of a gateway's health
HITS_A_DAY: Final = 0.05  # banned prefixes first hit on a day, per member, on each gateway

# Usage: shares of all holdings that have some in a bucket of a level
ACTIVE: Final = {"fiveminutes": 0.25, "hour": 0.5, "day": 0.9, "week": 1.0, "fourweeks": 1.0}
SAMPLED: Final = 50  # while years pass, usage is written for one holding of so many
