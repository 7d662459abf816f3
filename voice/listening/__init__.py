"""From frames of sound to the pieces of what was said: pure, but for the detector that is passed in."""
