"""Texts of law as their publishers give them out, and citations of them. Standard library and lxml only."""
