"""URLs of addresses: pages that combine several apps, in the navigation's network section."""

from django.urls import path

from apps.desk.views import addresses, pool_lifecycle

app_name = "network"
urlpatterns = [
    path("addresses/", addresses.addresses, name="addresses"),
    path("addresses/held/", addresses.address_lookup, name="held"),
    path("addresses/add/", addresses.add_pool, name="pool-add"),
    path("addresses/<int:pk>/", addresses.pool, name="pool"),
    path("addresses/<int:pk>/edit/", addresses.edit_pool, name="pool-edit"),
    path("addresses/<int:pk>/remove/", addresses.remove_pool, name="pool-remove"),
    path("addresses/<int:pk>/enlarge/", pool_lifecycle.enlarge, name="pool-enlarge"),
    path("addresses/<int:pk>/split/", pool_lifecycle.split, name="pool-split"),
    path("addresses/<int:pk>/retire/", pool_lifecycle.retire, name="pool-retire"),
    path("addresses/undo/<int:event>/", addresses.undo_pool, name="pool-undo"),
]
