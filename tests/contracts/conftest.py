import sys
from pathlib import Path

# The pictures and the oracles are shared by the tests of this folder.
sys.path.insert(0, str(Path(__file__).parent))
