"""What the tests of all agents need."""

import psutil
import pytest


@pytest.fixture
def children_with():
    """Find our children that have this in their environment: of all others there may be any number."""

    def found(name, value):
        children = []
        for child in psutil.Process().children():
            try:
                if child.environ().get(name) == value:
                    children.append(child)
            except (psutil.NoSuchProcess, psutil.AccessDenied):  # it has ended
                pass
        return children

    return found
