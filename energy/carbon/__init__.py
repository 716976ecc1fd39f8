"""Emission factors by site and hour, for each accounting method."""
