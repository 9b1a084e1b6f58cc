"""URLs of addresses: pages that combine several apps, in the navigation's network section."""

from django.urls import path

from apps.desk.views import addresses

app_name = "network"
urlpatterns = [
    path("addresses/", addresses.addresses, name="addresses"),
    path("addresses/held/", addresses.address_lookup, name="held"),
    path("addresses/add/", addresses.add_pool, name="pool-add"),
    path("addresses/<int:pk>/", addresses.pool, name="pool"),
    path("addresses/<int:pk>/edit/", addresses.edit_pool, name="pool-edit"),
    path("addresses/<int:pk>/remove/", addresses.remove_pool, name="pool-remove"),
    path("addresses/undo/<int:event>/", addresses.undo_pool, name="pool-undo"),
]
