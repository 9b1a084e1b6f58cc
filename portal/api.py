"""The REST API's addresses."""

from rest_framework.routers import DefaultRouter

from apps.bans.blocks.api import BlockViewSet
from apps.bans.listeners.api import ListenerViewSet
from apps.deployments.api import HeldBackViewSet, HoldViewSet, RevisionViewSet, RolloutViewSet
from apps.members.api import MemberViewSet
from apps.nat.api import ForwardViewSet
from apps.network.api import HoldingViewSet

router = DefaultRouter()
router.register("members", MemberViewSet, "member")
router.register("addresses", HoldingViewSet, "address")
router.register("forwards", ForwardViewSet, "forward")
router.register("blocks", BlockViewSet, "block")
router.register("listeners", ListenerViewSet, "listener")
router.register("rollouts", RolloutViewSet, "rollout")
router.register("revisions", RevisionViewSet, "revision")
router.register("approvals", HeldBackViewSet, "approval")
router.register("holds", HoldViewSet, "hold")
