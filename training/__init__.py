"""Training scripts over `gardienii_env`: `python -m training CONFIG [key=value ...]`."""

import os

# Read when numpy is loaded. The small products of the opponents' networks are fastest in one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
