"""The web edge."""
