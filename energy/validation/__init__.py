"""Predicted against published: one module for each suite, common statistics and the document that they print."""
