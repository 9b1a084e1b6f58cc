"""The REST API's addresses."""

from rest_framework.routers import DefaultRouter

from apps.bans.api import AllowEntryViewSet, BanListViewSet, BanViewSet, FeedViewSet
from apps.bans.blocks.api import BlockViewSet
from apps.bans.listeners.api import ListenerViewSet
from apps.deployments.api import HeldBackViewSet, HoldViewSet, RevisionViewSet, RolloutViewSet
from apps.gateways.api import GatewayGroupViewSet, LimitsViewSet, ProfileViewSet, ProtectionViewSet
from apps.members.api import MemberViewSet
from apps.nat.api import ForwardViewSet
from apps.nat.api_mappings import MappingViewSet
from apps.nat.pinholes.api import PinholeViewSet
from apps.network.api import HoldingViewSet
from apps.traffic.api import UsageViewSet
from apps.traffic.rates.api import RateLimitViewSet

router = DefaultRouter()
router.register("members", MemberViewSet, "member")
router.register("addresses", HoldingViewSet, "address")
router.register("mappings", MappingViewSet, "mapping")
router.register("forwards", ForwardViewSet, "forward")
router.register("pinholes", PinholeViewSet, "pinhole")
router.register("banlists", BanListViewSet, "banlist")
router.register("bans", BanViewSet, "ban")
router.register("allowed", AllowEntryViewSet, "allowentry")
router.register("feeds", FeedViewSet, "feed")
router.register("groups", GatewayGroupViewSet, "group")
router.register("blocks", BlockViewSet, "block")
router.register("listeners", ListenerViewSet, "listener")
router.register("rollouts", RolloutViewSet, "rollout")
router.register("revisions", RevisionViewSet, "revision")
router.register("approvals", HeldBackViewSet, "approval")
router.register("holds", HoldViewSet, "hold")
router.register("protection", ProtectionViewSet, "protection")
router.register("profile", ProfileViewSet, "profile")
router.register("limits", LimitsViewSet, "limits")
router.register("ratelimits", RateLimitViewSet, "ratelimit")
router.register("usage", UsageViewSet, "usage")
