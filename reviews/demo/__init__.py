"""The demo's own invented cases. None of the people and companies exists."""
