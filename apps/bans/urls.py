"""Routes of ban lists, the allow list, feeds, blocks, notices and listeners."""

from django.urls import path, re_path

from apps.bans.views import allowed, bans, blocks, coverage, feeds, imports, listeners, lists, notice

app_name = "bans"
urlpatterns = [
    path("", lists.lists, name="lists"),
    path("covering/", coverage.coverage_search, name="covering"),
    path("allowed/", allowed.entries, name="allowed"),
    path("allowed/<int:pk>/", allowed.change, name="allow_entry"),
    path("allowed/<int:pk>/remove/", allowed.remove, name="disallow"),
    path("<int:pk>/", lists.banlist, name="list"),
    path("<int:pk>/switch/", lists.switch, name="switch"),
    path("<int:pk>/edit/", lists.edit, name="edit"),
    path("<int:pk>/delete/", lists.delete, name="delete"),
    path("<int:pk>/feed/", feeds.edit, name="feed"),
    path("<int:pk>/feed/now/", feeds.refresh_now, name="feed_now"),
    path("<int:pk>/feed/state/", feeds.feed_state, name="feed_state"),
    path("<int:pk>/feed/held/", feeds.pending_import, name="feed_held"),
    path("<int:pk>/feed/remove/", feeds.remove, name="feed_remove"),
    path("<int:pk>/add/", bans.add, name="add"),
    path("<int:pk>/bulk/", bans.bulk_action, name="bulk"),
    path("<int:pk>/restore/<uuid:history>/", bans.restore, name="restore"),
    path("<int:pk>/import/", imports.upload, name="import"),
    path("import/<int:pk>/", imports.preview, name="preview"),
    re_path(r"^(?P<pk>[0-9]{1,18})/bans\.(?P<form>txt|csv|json)$", lists.download, name="download"),
    path("ban/<int:pk>/", bans.change, name="ban"),
    path("ban/<int:pk>/saved/", bans.saved_ban_strip, name="saved"),
    path("ban/<int:pk>/lift/", bans.lift, name="lift"),
    path("ban/<int:pk>/revert/", bans.revert, name="revert"),
    path("blocks/", blocks.blocks, name="blocks"),
    path("blocks/bulk/", blocks.bulk_action, name="blocks-bulk"),
    path("blocks/member/<int:pk>/", blocks.block_member, name="block-member"),
    path("blocks/<int:pk>/", blocks.block, name="block"),
    path("blocks/<int:pk>/lift/", blocks.lift, name="block-lift"),
    path("blocks/<int:pk>/restore/", blocks.restore, name="block-restore"),
    path("notice/<int:group>/", notice.notice, name="notice"),
    path("notice/<int:group>/add/", notice.add, name="reachable-add"),
    path("notice/reachable/<int:pk>/remove/", notice.remove, name="reachable-remove"),
    path("listeners/", listeners.listeners, name="listeners"),
    path("listeners/interface/", listeners.interface, name="server-interface"),
    path("listeners/<int:pk>/", listeners.listener, name="listener"),
    path("listeners/<int:pk>/remove/", listeners.remove, name="listener-remove"),
]
