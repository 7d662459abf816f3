"""Viva Voce's ears and mouth: it hears, speaks, and carries a hands-free session with an agent.

Importing this package loads no audio library and no model; every part is loaded when it is used.
"""

__version__ = "0.1.0"
