"""`python -m gardienii_env` is the program `gardienii`."""

from __future__ import annotations

import sys

from gardienii_env.cli import main

sys.exit(main())
