from django.conf import settings
from django.urls import path
from django.views.i18n import set_language

from apps.lib import views

app_name = "lib"
urlpatterns = [
    path("theme/", views.theme, name="theme"),
    path("language/", set_language, name="language"),
]
if settings.DEBUG:
    urlpatterns += [
        path("styleguide/", views.style_guide, name="styleguide"),
        path("styleguide/<slug:name>/", views.style_guide, name="styleguide"),
    ]
