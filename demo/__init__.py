"""The demonstration, and the stage that it shares with the end-to-end tests."""
