"""URLs of tariffs and of the payment import."""

from django.urls import path

from apps.members import views, views_payments

app_name = "members"
urlpatterns = [
    path("members/payments/", views_payments.import_payments, name="payments"),
    path("tariffs/", views.tariffs, name="tariffs"),
    path("tariffs/add/", views.add, name="tariff-add"),
    path("tariffs/<int:pk>/", views.change, name="tariff"),
]
