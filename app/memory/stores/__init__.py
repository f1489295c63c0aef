"""Stores: one meaning over three engines."""
