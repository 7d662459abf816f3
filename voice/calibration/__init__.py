"""`voice calibrate`: which model and which settings fit this machine and this room, measured."""
