"""The addresses of the web surfaces."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import set_language
from rest_framework.routers import DefaultRouter

from feedback.viewsets import FeedbackViewSet
from icm_site import rest_schema
from icm_site.api import api
from icm_site.login import LimitedLogin
from icm_site.one_time import enter
from icm_site.views import dashboard, health
from memoirs.viewsets import ConceptViewSet, LinkViewSet, MemoirViewSet
from memories.activity_viewsets import ChangeViewSet, SuggestionViewSet
from memories.viewsets import MemoryViewSet

admin.autodiscover()
# The pages have a row of links of their own.
admin.site.enable_nav_sidebar = False
admin.site.site_url = None
admin.site.login_form = LimitedLogin

router = DefaultRouter()
router.include_format_suffixes = False
router.register("memories", MemoryViewSet, basename="memory")
router.register("memoirs", MemoirViewSet, basename="memoir")
router.register("concepts", ConceptViewSet, basename="concept")
router.register("links", LinkViewSet, basename="link")
router.register("feedback", FeedbackViewSet, basename="feedback")
router.register("suggestions", SuggestionViewSet, basename="suggestion")
router.register("changes", ChangeViewSet, basename="change")

# The browsable pages of the REST framework link to a login by these names.
login = RedirectView.as_view(pattern_name="admin:login", query_string=True)
sessions = [
    path("login/", login, name="login"),
    path("logout/", admin.site.logout, name="logout"),
]

urlpatterns = [
    path("", admin.site.admin_view(dashboard), name="dashboard"),
    path("open/<str:secret>/", enter, name="enter"),
    path("language/", set_language, name="set_language"),
    path("admin/", admin.site.urls),
    path("api/openapi.json", rest_schema.description, name="rest-openapi"),
    path("api/docs", rest_schema.docs, name="rest-docs"),
    path("api/", include(router.urls)),
    path("session/", include((sessions, "rest_framework"))),
    path("ops/", api.urls),
    path("health", health, name="health"),
]
