"""REST API of rollouts, revisions, approvals and holds: uses the same services as the pages."""

from typing import Any

from django.db.models import Exists, Model, OuterRef, QuerySet
from django.urls import reverse
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.recent_auth import check_recent_api_auth
from apps.deployments import selectors, services
from apps.deployments.approvals import refusal
from apps.deployments.models import HeldBack, Hold, Revision, RevisionContent, Rollout, RolloutStep
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.contents import ContentNotStored
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.deployments.revision_pages.presentation import explain_not_kept, read_database_clock
from apps.deployments.rollouts import decisions, rollback
from apps.deployments.selectors import list_rollouts
from apps.lib.api.filters import build_filters, build_unknown_error
from apps.lib.api.openapi.json_schema import INTEGER, TEXT, TRUTH, Shape, make_array, make_mapping, make_nullable, make_object
from apps.lib.api.openapi.operations import declare_response
from apps.lib.api.serializers import ApiSerializer
from apps.lib.api.unknown_fields import StrictSerializer
from apps.lib.api.viewsets import ReadViewSet, parse_request, refuse_limited_token
from firewall.render import render

EVIDENCE: Shape = make_array(make_object(what=TEXT, passed=make_nullable(TRUTH), ms=make_nullable({"type": "number"}), text=TEXT))
CHANGES: Shape = make_array(make_object(kind=TEXT, added=INTEGER, removed=INTEGER, changed=INTEGER, of=INTEGER))


class StepSerializer(ApiSerializer):
    shapes = {"evidence": EVIDENCE}
    gateway = serializers.StringRelatedField[Model]()

    class Meta:
        model = RolloutStep
        fields = [
            "gateway",
            "position",
            "state",
            "sent",
            "sent_octets",
            "committed",
            "commit_ms",
            "read_back_ms",
            "goes_back",
            "evidence",
            "confirmed",
            "flows_cut",
            "error",
            "doing",
            "done",
            "of",
            "heard",
        ]


class RolloutSerializer(ApiSerializer):
    shapes = {"changes": CHANGES}
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model](source="revision.by")
    changes = serializers.JSONField(source="revision.changes")
    steps = StepSerializer(many=True)

    class Meta:
        model = Rollout
        fields = ["id", "revision", "group", "state", "wish", "created", "finished", "by", "changes", "steps", "error"]
        brief = ["id", "revision", "group", "state"]


ASKED: Shape = make_object(watch=TEXT)
WAITS: Shape = make_object(approval=INTEGER, watch=TEXT)
LEFT: Shape = make_object(not_restored=make_array(TEXT))


class DeploySerializer(StrictSerializer):
    """Options of a deploy. again: also retry what a gateway refused or was unreachable for."""

    again = serializers.BooleanField(default=False)


class RolloutViewSet(ReadViewSet):
    """Rollouts, newest first."""

    serializer_class = RolloutSerializer
    group_path = "group"
    filters = build_filters(Rollout, "revision", "group", "state", "created", "finished", by="revision__by")

    def get_queryset(self) -> QuerySet[Rollout]:
        return list_rollouts()

    @declare_response(202, ASKED)
    @action(detail=False, methods=["post"], serializer_class=DeploySerializer)
    def deploy(self, request: Request) -> Response:
        """Ask a worker to deploy now. If a gateway does not run the desired state, a rollout appears at `watch`."""
        refuse_limited_token(request)
        newest = Rollout.objects.order_by("-id").values_list("id", flat=True).first() or 0
        services.request_reconcile(by=_get_user(request), force=parse_request(DeploySerializer, request)["again"])
        watch = f"{reverse('api:rollout-list')}?id__gt={newest}"
        return Response({"watch": watch}, status=202, headers={"Location": watch})

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str = "") -> Response:
        """Pause the rollout before the next gateway."""
        decisions.pause_rollout(self.get_object(), by=_get_user(request))
        return self.respond_with(self.get_object())

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str = "") -> Response:
        """Resume the rollout."""
        decisions.resume_rollout(self.get_object(), by=_get_user(request))
        return self.respond_with(self.get_object())

    @action(detail=True, methods=["post"])
    def abort(self, request: Request, pk: str = "") -> Response:
        """Abort the rollout: a gateway on trial reverts, confirmed gateways keep the revision, the others are not touched."""
        decisions.abort_rollout(self.get_object(), by=_get_user(request))
        return self.respond_with(self.get_object())


def _get_user(request: Request) -> Any:
    """Return the user of the token or session; always staff in this API."""
    return request.user


class RevisionSerializer(ApiSerializer):
    shapes = {"changes": CHANGES, "digests": make_mapping(TEXT)}
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model]()
    kept = serializers.BooleanField(read_only=True)

    class Meta:
        model = Revision
        fields = ["id", "group", "created", "by", "cause", "again", "changes", "elements", "digests", "kept"]
        brief = ["id", "group", "created"]


class WhySerializer(StrictSerializer):
    """Rollback to a revision. why: the reason, shown while the group is held."""

    why = serializers.CharField(max_length=200)


class HoldSerializer(ApiSerializer):
    group = serializers.StringRelatedField[Model]()
    by = serializers.StringRelatedField[Model]()

    class Meta:
        model = Hold
        fields = ["id", "group", "revision", "by", "since", "why", "alone"]
        brief = ["id", "group", "revision"]


class RevisionViewSet(ReadViewSet):
    """Revisions, newest first."""

    serializer_class = RevisionSerializer
    group_path = "group"
    filters = build_filters(Revision, "group", "created", "by", "cause", "elements")

    def get_queryset(self) -> QuerySet[Revision]:
        kept = Exists(RevisionContent.objects.filter(revision=OuterRef("pk")))
        return Revision.objects.select_related("group", "by").annotate(kept=kept).defer("delta").order_by("-id")

    @declare_response(200, make_object(text=TEXT, whole=TRUTH))
    @action(detail=True)
    def delta(self, request: Request, pk: str = "") -> Response:
        """The revision's changes as nft text. `whole` is false if the text is truncated."""
        text = Revision.objects.values_list("delta", flat=True).get(pk=self.get_object().pk)
        return Response({"text": text, "whole": len(text) < SHOWN_DELTA})

    @declare_response(200, make_object(gateway=TEXT, text=TEXT), gateway="the name of a gateway that it was meant for")
    @action(detail=True)
    def text(self, request: Request, pk: str = "") -> Response:
        """The complete ruleset of one gateway as nft text. 404 if the revision's content is no longer stored."""
        revision, name = self.get_object(), request.query_params.get("gateway", "")
        if name not in revision.digests:
            raise build_unknown_error(name, sorted(revision.digests), "gateway")
        try:
            ruleset = contents.load_rulesets(revision)[name]
        except ContentNotStored as error:
            raise NotFound(explain_not_kept([revision])) from error
        return Response({"gateway": name, "text": render(ruleset, now=read_database_clock())})

    @declare_response(201, HoldSerializer)
    @declare_response(202, WAITS)
    @action(detail=True, methods=["post"], serializer_class=WhySerializer)
    def rollback(self, request: Request, pk: str = "") -> Response:
        """Roll back to this revision and hold the group there. 202 if a second person has to approve first: `approval` is the id
        of what waits.
        """
        made = rollback.roll_back(self.get_object(), why=parse_request(WhySerializer, request)["why"], by=_get_user(request))
        if isinstance(made, Hold):
            return Response(HoldSerializer(made).data, status=201)
        where = reverse("api:approval-detail", args=[made.pk])
        return Response({"approval": made.pk, "watch": where}, status=202, headers={"Location": where})


class HoldViewSet(ReadViewSet):
    """Groups that are held at an older revision."""

    serializer_class = HoldSerializer
    group_path = "group"
    filters = build_filters(Hold, "group", "revision", "since")

    def get_queryset(self) -> QuerySet[Hold]:
        return selectors.list_revision_holds()

    @declare_response(204)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str = "") -> Response:
        """Release the hold, so that the group follows the database again."""
        decisions.release_revision_hold(self.get_object().group, by=_get_user(request))
        return Response(status=204)


class HeldBackSerializer(ApiSerializer):
    shapes = {"asked_by": make_array(TEXT)}
    group = serializers.StringRelatedField[Model]()
    asked_by = serializers.StringRelatedField[Model](source="askers", many=True)
    decided_by = serializers.StringRelatedField[Model]()

    class Meta:
        model = HeldBack
        fields = [
            *("id", "group", "kind", "digest", "removed", "of", "earlier", "state", "since", "asked_by", "asker_unknown"),
            *("decided", "decided_by", "reason", "alone"),
        ]
        brief = ["id", "group", "kind", "state"]


class DigestSerializer(StrictSerializer):
    """Approval. digest: identifies exactly what is approved."""

    digest = serializers.CharField(max_length=64)


class RefusalSerializer(DigestSerializer):
    """Refusal. digest: identifies exactly what is refused. reason: sent to the users who asked for it."""

    reason = serializers.CharField(max_length=200)


class HeldBackViewSet(ReadViewSet):
    """Changes that wait for a second person, and past ones with their outcome, newest first."""

    serializer_class = HeldBackSerializer
    group_path = "group"
    filters = build_filters(HeldBack, "group", "kind", "digest", "removed", "state", "since", "decided")

    def get_queryset(self) -> QuerySet[HeldBack]:
        return selectors.list_held_back_parts()

    @declare_response(200, HeldBackSerializer)
    @action(detail=True, methods=["post"], serializer_class=DigestSerializer)
    def approve(self, request: Request, pk: str = "") -> Response:
        """Approve exactly what the digest stands for. Needs a session in which the user has recently confirmed their identity; a
        token cannot.

        Users can approve their own changes only on the page, which asks them to sign in again.
        """
        found = self.get_object()
        check_recent_api_auth(request)
        digest = parse_request(DigestSerializer, request)["digest"]
        held = decisions.approve_part(found, digest=digest, by=_get_user(request), signed_in_again=False)
        return Response(HeldBackSerializer(held).data)

    @declare_response(200, LEFT)
    @action(detail=True, methods=["post"], serializer_class=RefusalSerializer)
    def refuse(self, request: Request, pk: str = "") -> Response:
        """Refuse and undo exactly what the digest stands for. `not_restored` lists what could not be restored. Needs a session
        like `approve`.
        """
        found = self.get_object()
        check_recent_api_auth(request)
        return Response({"not_restored": refusal.refuse_part(found, by=_get_user(request), **parse_request(RefusalSerializer, request))})
