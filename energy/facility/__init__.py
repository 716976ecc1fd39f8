"""From IT energy to the site's meter."""
