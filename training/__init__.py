"""Training scripts over `gardienii_env`: `python -m training CONFIG [key=value ...]`."""
