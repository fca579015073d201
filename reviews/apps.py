from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"

    def ready(self) -> None:
        from audit.log import register_comparer, register_state
        from reviews.recorded import approval_rows, decision_rows, person_departures, retention_rows

        register_comparer("decision", decision_rows, event_types=("decision_recorded", "decision_reversed"))
        register_comparer("approval", approval_rows, event_types=("decision_approved", "decision_refused"))
        kept = ("relationship_ended", "legal_hold_set", "legal_hold_lifted")
        register_comparer("retention", retention_rows, event_types=kept)
        register_state("person", person_departures)
