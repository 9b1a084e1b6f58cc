from django.conf import settings
from django.urls import path

from apps.lib import views
from apps.lib.web import language_switch

app_name = "lib"
urlpatterns = [
    path("theme/", views.switch_theme, name="theme"),
    path("language/", language_switch.switch_language, name="language"),
]
if settings.DEBUG:
    urlpatterns += [
        path("styleguide/", views.style_guide, name="styleguide"),
        path("styleguide/<slug:name>/", views.style_guide, name="styleguide"),
    ]
