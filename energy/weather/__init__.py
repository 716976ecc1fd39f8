"""Years of weather by hour, and the moist air in them: what cooling and PV both need."""
