"""Addresses: pages across apps that the navigation knows as the network's."""

from django.urls import path

from apps.desk.views import addresses

app_name = "network"
urlpatterns = [
    path("addresses/", addresses.addresses, name="addresses"),
    path("addresses/held/", addresses.address_lookup, name="held"),
    path("addresses/add/", addresses.add_pool, name="pool-add"),
    path("addresses/<int:pk>/", addresses.pool, name="pool"),
    path("addresses/<int:pk>/edit/", addresses.edit_pool, name="pool-edit"),
]
