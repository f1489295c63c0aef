"""Remora: an OpenAI-compatible reverse proxy that gives any client long-term memory."""
