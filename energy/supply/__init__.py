"""What feeds a site beside the grid, and when its load runs: sun, wind, battery, matching, shifting, diesel."""
