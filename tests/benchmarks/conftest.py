import sys
from pathlib import Path

# The benchmarks are scripts beside each other, not a package: they find their parts as scripts do.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
