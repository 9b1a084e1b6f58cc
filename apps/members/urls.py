"""URLs of sites, rooms, tariffs and the payment import."""

from django.urls import path

from apps.members import views_payments, views_sites, views_tariffs

app_name = "members"
urlpatterns = [
    path("members/payments/", views_payments.import_payments, name="payments"),
    path("tariffs/", views_tariffs.tariffs, name="tariffs"),
    path("tariffs/add/", views_tariffs.add, name="tariff-add"),
    path("tariffs/<int:pk>/", views_tariffs.change, name="tariff"),
    path("tariffs/<int:pk>/remove/", views_tariffs.remove, name="tariff-remove"),
    path("tariffs/undo/<int:event>/", views_tariffs.undo, name="tariff-undo"),
    path("sites/", views_sites.sites, name="sites"),
    path("sites/add/", views_sites.add, name="site-add"),
    path("sites/<int:pk>/", views_sites.site, name="site"),
    path("sites/<int:pk>/edit/", views_sites.edit, name="site-edit"),
    path("sites/<int:pk>/remove/", views_sites.remove, name="site-remove"),
    path("sites/<int:pk>/rooms/add/", views_sites.add_rooms, name="rooms-add"),
    path("sites/undo/<int:event>/", views_sites.undo, name="site-undo"),
    path("sites/rooms/<int:pk>/", views_sites.edit_room, name="room"),
    path("sites/rooms/<int:pk>/remove/", views_sites.remove_room, name="room-remove"),
    path("sites/rooms/undo/<int:event>/", views_sites.undo_room, name="room-undo"),
]
