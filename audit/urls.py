from django.urls import path

from audit import views

urlpatterns = [
    path("trail/", views.trail, name="trail"),
    path("trail/<uuid:event_id>/", views.event, name="trail_event"),
]
