"""One's own account."""

from django.urls import path

from apps.accounts import views, views_invitations, views_tokens

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="account"),
    path("sessions/", views.where, name="sessions"),
    path("sessions/<int:pk>/end/", views.end, name="session-end"),
    path("sessions/end-others/", views.end_others, name="sessions-end-others"),
    path("tokens/", views_tokens.mine, name="tokens"),
    path("tokens/<int:pk>/revoke/", views_tokens.revoke, name="token-revoke"),
    path("invitations/", views_invitations.open_ones, name="invitations"),
    path("invitations/<int:pk>/withdraw/", views_invitations.withdraw, name="invitation-withdraw"),
    path("invited/<str:token>/", views_invitations.invited, name="invited"),
]
