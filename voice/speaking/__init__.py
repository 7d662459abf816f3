"""From an agent's text to what is heard of it."""
