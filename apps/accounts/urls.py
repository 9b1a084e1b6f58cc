"""Routes of one's own account, and of the administration of accounts."""

from django.urls import path

from apps.accounts import views, views_invitations, views_sso, views_tokens
from apps.accounts.people import views as people

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="account"),
    path("signed-out/", views_sso.finish_sign_out, name="signed-out"),
    path("back-channel-logout/", views_sso.back_channel_logout, name="back-channel-logout"),
    path("keys/", views.switch_keyboard_shortcuts, name="keys"),
    path("sessions/", views.session_list, name="sessions"),
    path("sessions/<int:pk>/end/", views.end_session, name="session-end"),
    path("sessions/end-others/", views.end_other_sessions, name="sessions-end-others"),
    path("tokens/", views_tokens.token_list, name="tokens"),
    path("tokens/revoke-all/", views_tokens.revoke_all, name="tokens-revoke-all"),
    path("tokens/<int:pk>/revoke/", views_tokens.revoke, name="token-revoke"),
    path("invitations/", views_invitations.invitation_list, name="invitations"),
    path("invitations/<int:pk>/withdraw/", views_invitations.withdraw, name="invitation-withdraw"),
    path("people/", people.people, name="people"),
    path("people/<int:pk>/", people.account, name="person"),
    path("people/<int:pk>/roles/", people.change_roles, name="roles"),
    path("people/<int:pk>/sign-out/", people.end_account_sessions, name="person-sign-out"),
    path("people/<int:pk>/revoke-tokens/", people.revoke_tokens, name="person-revoke-tokens"),
    path("people/changes/<int:pk>/agree/", people.approve_role_change, name="roles-agree"),
    path("people/changes/<int:pk>/drop/", people.cancel_role_change, name="roles-drop"),
    path("invited/<str:token>/", views_invitations.accept_invitation, name="invited"),
]
