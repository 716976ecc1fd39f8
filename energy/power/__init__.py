"""From what a chip does to the watts it draws, and from readings to energy."""
