from django.urls import path

from audit import verifying, views

urlpatterns = [
    path("", views.trail, name="trail"),
    path("verification/", verifying.verification, name="trail_verification"),
    path("<uuid:event_id>/", views.event, name="trail_event"),
]
