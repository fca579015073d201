from django.urls import path

from audit import exports, verifying, views

urlpatterns = [
    path("", views.trail, name="trail"),
    path("verification/", verifying.verification, name="trail_verification"),
    path("exports/", exports.exports, name="trail_exports"),
    path("exports/<uuid:export_id>/", exports.download, name="trail_export"),
    path("<uuid:event_id>/", views.event, name="trail_event"),
]
