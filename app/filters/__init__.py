"""Filters: thin async shells around decisions."""
