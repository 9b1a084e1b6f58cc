"""URLs of the REST API."""

from apps.accounts.api import InvitationViewSet, PersonViewSet, RoleChangeViewSet, TokenViewSet
from apps.alarms.api import AlarmViewSet, SilenceViewSet
from apps.alarms.channels.api import ChannelViewSet
from apps.alarms.duty.api import CalendarViewSet, ShiftViewSet
from apps.announcements.api import AnnouncementViewSet
from apps.bans.api import AllowEntryViewSet, BanListViewSet, BanViewSet, FeedViewSet
from apps.bans.blocks.api import BlockViewSet
from apps.bans.blocks.api_notice import NoticeViewSet, ReachableViewSet
from apps.bans.listeners.api import ListenerViewSet
from apps.deployments.api import HeldBackViewSet, HoldViewSet, RevisionViewSet, RolloutViewSet
from apps.desk.api import EnquiryViewSet
from apps.desk.connection_check.api import MemberWithCheckViewSet
from apps.desk.network_settings.api import NetworkSettingsViewSet
from apps.desk.packet_trace.api import GatewayWithTraceViewSet
from apps.desk.people_import.api import PeopleImportViewSet
from apps.gateways.api import GatewayGroupViewSet, LimitsViewSet, ProfileViewSet, ProtectionViewSet, UplinkViewSet
from apps.gateways.api_failover import FailoverViewSet
from apps.gateways.api_sharing import FairShareViewSet, PortRulesViewSet
from apps.gateways.joining.api import JoiningMachineViewSet
from apps.lib.api.routers import Router
from apps.members.api import DeviceViewSet, RoomViewSet, SiteViewSet, TariffViewSet
from apps.members.api_departures import DepartureViewSet
from apps.members.api_invitations import MemberInvitationViewSet
from apps.nat.api import ForwardViewSet
from apps.nat.api_mappings import MappingViewSet
from apps.nat.api_pools import PoolViewSet
from apps.nat.moving.api import MoveViewSet
from apps.nat.pinholes.api import PinholeViewSet
from apps.network.api import HoldingViewSet
from apps.status.incidents.api import IncidentViewSet
from apps.tickets.api import BulkAnswerViewSet, CannedViewSet, TicketViewSet
from apps.traffic.api import AddressesUsageViewSet, MembersUsageViewSet
from apps.traffic.api_quotas import QuotaViewSet
from apps.traffic.rates.api import RateLimitViewSet
from apps.webhooks.api import DeliveryViewSet, WebhookViewSet

router = Router()
router.register("members/members", MemberWithCheckViewSet, "member")
router.register("members/devices", DeviceViewSet, "device")
router.register("members/tariffs", TariffViewSet, "tariff")
router.register("members/sites", SiteViewSet, "site")
router.register("members/rooms", RoomViewSet, "room")
router.register("network/pools", PoolViewSet, "pool")
router.register("network/addresses", HoldingViewSet, "address")
router.register("network/settings", NetworkSettingsViewSet, "settings")
router.register("nat/mappings", MappingViewSet, "mapping")
router.register("nat/forwards", ForwardViewSet, "forward")
router.register("nat/pinholes", PinholeViewSet, "pinhole")
router.register("bans/lists", BanListViewSet, "banlist")
router.register("bans/bans", BanViewSet, "ban")
router.register("bans/allowed", AllowEntryViewSet, "allowentry")
router.register("bans/feeds", FeedViewSet, "feed")
router.register("gateways/groups", GatewayGroupViewSet, "group")
router.register("bans/blocks", BlockViewSet, "block")
router.register("bans/listeners", ListenerViewSet, "listener")
router.register("deployments/rollouts", RolloutViewSet, "rollout")
router.register("deployments/revisions", RevisionViewSet, "revision")
router.register("deployments/approvals", HeldBackViewSet, "approval")
router.register("deployments/holds", HoldViewSet, "hold")
router.register("gateways/protection", ProtectionViewSet, "protection")
router.register("gateways/profile", ProfileViewSet, "profile")
router.register("gateways/limits", LimitsViewSet, "limits")
router.register("gateways/failover", FailoverViewSet, "failover")
router.register("traffic/ratelimits", RateLimitViewSet, "ratelimit")
router.register("gateways/gateways", GatewayWithTraceViewSet, "gateway")
router.register("gateways/joining", JoiningMachineViewSet, "joining")
router.register("gateways/uplinks", UplinkViewSet, "uplink")
router.register("gateways/portrules", PortRulesViewSet, "portrules")
router.register("gateways/fairshare", FairShareViewSet, "fairshare")
router.register("members/departures", DepartureViewSet, "departure")
router.register("members/invitations", MemberInvitationViewSet, "member-invitation")
router.register("members/imports", PeopleImportViewSet, "people-import")
router.register("nat/moves", MoveViewSet, "move")
router.register("accounts/rolechanges", RoleChangeViewSet, "rolechange")
router.register("bans/notices", NoticeViewSet, "notice")
router.register("bans/reachable", ReachableViewSet, "reachable")
router.register("tickets/tickets", TicketViewSet, "ticket")
router.register("tickets/answers", BulkAnswerViewSet, "answer")
router.register("tickets/canned", CannedViewSet, "canned")
router.register("announcements/announcements", AnnouncementViewSet, "announcement")
router.register("accounts/people", PersonViewSet, "person")
router.register("accounts/tokens", TokenViewSet, "token")
router.register("accounts/invitations", InvitationViewSet, "invitation")
router.register("audit/enquiries", EnquiryViewSet, "enquiry")
router.register("alarms/alarms", AlarmViewSet, "alarm")
router.register("alarms/silences", SilenceViewSet, "silence")
router.register("alarms/channels", ChannelViewSet, "channel")
router.register("alarms/shifts", ShiftViewSet, "shift")
router.register("alarms/calendars", CalendarViewSet, "calendar")
router.register("status/incidents", IncidentViewSet, "incident")
router.register("webhooks/webhooks", WebhookViewSet, "webhook")
router.register("webhooks/deliveries", DeliveryViewSet, "delivery")
router.register("traffic/quotas", QuotaViewSet, "quota")
router.register("traffic/members", MembersUsageViewSet, "usage")
router.register("traffic/addresses", AddressesUsageViewSet, "address-usage")
