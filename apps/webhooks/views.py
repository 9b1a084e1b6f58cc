"""Webhook pages, for network administrators."""

import json

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.webhooks import selectors, services
from apps.webhooks.forms import WebhookForm
from apps.webhooks.models import Delivery, Endpoint

PER_PAGE = 50


@staff_page
def webhooks(request: HttpRequest) -> HttpResponse:
    """List all webhooks, each with its last result."""
    return render(request, "webhooks/list.html", {"rows": selectors.list_endpoints()})


@never_cache
@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a webhook. The response shows its secret once."""
    by = get_signed_in_user(request)
    form = WebhookForm(by, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            row, secret = services.add_webhook(facts=form.to_kwargs(), by=by)
            return render(request, "webhooks/secret.html", {"row": row, "secret": secret})
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "webhooks/edit.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def webhook(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a webhook with its deliveries and its history."""
    row = get_object_or_404(selectors.list_endpoints(), pk=pk)
    deliveries = Delivery.objects.filter(endpoint=row).defer("body", "answer").order_by("-id")
    page = Paginator(deliveries, PER_PAGE).get_page(request.GET.get("page"))
    shown = {"row": row, "page": page, "history": list_row_history(row), "resting": row.rest_until and row.rest_until > timezone.now()}
    return render(request, "webhooks/webhook.html", shown)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a webhook's settings; pause or resume it."""
    row = get_object_or_404(Endpoint.objects.select_related("owner"), pk=pk)
    form = WebhookForm(row.owner, request.POST if request.method == "POST" else None, row)
    if form.is_valid():
        try:
            services.change_webhook(
                endpoint=row, version=form.cleaned_data["version"] or 0, facts=form.to_kwargs(), by=get_signed_in_user(request)
            )
            return redirect("webhooks:webhook", pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "webhooks/edit.html", {"form": form, "row": row}, status=422 if form.is_bound else 200)


@never_cache
@staff_page
def secret(request: HttpRequest, pk: int) -> HttpResponse:
    """GET explains what a new secret means. POST makes one and shows it once."""
    row = get_object_or_404(Endpoint, pk=pk)
    if request.method != "POST":
        return render(request, "webhooks/renew.html", {"row": row})
    return render(
        request, "webhooks/secret.html", {"row": row, "secret": services.renew_secret(endpoint=row, by=get_signed_in_user(request))}
    )


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """GET lists what would be removed. POST removes the webhook."""
    row = get_object_or_404(selectors.list_endpoints(), pk=pk)
    if request.method != "POST":
        return render(request, "webhooks/remove.html", {"row": row})
    services.remove_webhook(endpoint=row, by=get_signed_in_user(request))
    return redirect("webhooks:list")


@staff_page
@require_POST
def ping(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test."""
    row = get_object_or_404(Endpoint, pk=pk)
    try:
        services.ping_webhook(endpoint=row, by=get_signed_in_user(request))
        messages.success(request, _("A test is on its way: it is the first entry in the list."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("webhooks:webhook", pk)


@staff_page
def delivery(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what was sent and what was answered."""
    row = get_object_or_404(Delivery.objects.select_related("endpoint"), pk=pk)
    body = json.dumps(json.loads(row.body), indent=2, ensure_ascii=False)
    return render(request, "webhooks/delivery.html", {"row": row, "body": body})


@staff_page
@require_POST
def resend(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a delivery again."""
    row = get_object_or_404(Delivery, pk=pk)
    try:
        services.resend_delivery(delivery=row, by=get_signed_in_user(request))
        messages.success(request, _("The delivery is sent again, with the same id."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("webhooks:delivery", pk)
