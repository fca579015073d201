from django.urls import path

from audit import views

urlpatterns = [
    path("", views.trail, name="trail"),
    path("<uuid:event_id>/", views.event, name="trail_event"),
]
