"""Import page of “paid until”: a preview of the list first, then the import."""

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import payment_import

MOST_OCTETS = 2_000_000
SHOWN = 100


class PaymentListForm(forms.Form):
    """A list as a file or as text. The preview sends it back as text."""

    file = forms.FileField(
        label=gettext_lazy("List as CSV"), required=False, help_text=gettext_lazy("Number and day, like M-2207;2027-03-31")
    )
    text = forms.CharField(label=gettext_lazy("Or paste its lines"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 6}))

    def clean(self) -> dict[str, str]:
        """Return the list as `text`, from the file if there is one."""
        given = super().clean() or {}
        file: UploadedFile[bytes] | None = given.get("file")
        text = self._read(file) if file else given.get("text", "")
        if len(text) > MOST_OCTETS:
            raise forms.ValidationError(_("The list is too long. Split it."))
        if not text.strip() and not self.errors:
            raise forms.ValidationError(_("Choose a file, or paste its lines."))
        return {"text": text}

    def _read(self, file: "UploadedFile[bytes]") -> str:
        if (file.size or 0) > MOST_OCTETS:
            raise forms.ValidationError(_("The list is too long. Split it."))
        octets = bytes(file.read()).replace(b"\0", b"")
        try:
            return octets.decode()
        except UnicodeDecodeError:
            return octets.decode("cp1252", errors="replace")


@staff_page
def import_payments(request: HttpRequest) -> HttpResponse:
    """Show the form, the preview of a submitted list, or import the confirmed list."""
    sent = request.method == "POST"
    form = PaymentListForm(request.POST if sent else None, request.FILES if sent else None)
    preview = None
    if form.is_valid():
        text = form.cleaned_data["text"]
        try:
            preview = payment_import.read_payments(text)
            if "confirmed" in request.POST:
                return _report_import(request, payment_import.import_payments(preview, by=get_signed_in_user(request)))
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {"form": form, "preview": preview, "shown": SHOWN, "text": form.cleaned_data.get("text", "") if form.is_bound else ""}
    return render(request, "members/payments.html", context, status=422 if form.errors else 200)


def _report_import(request: HttpRequest, count: int) -> HttpResponse:
    text = ngettext("“Paid until” was extended for %(n)d member.", "“Paid until” was extended for %(n)d members.", count)
    messages.success(request, text % {"n": count})
    return redirect("desk:members")
