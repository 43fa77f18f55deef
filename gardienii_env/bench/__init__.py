"""How fast the environments are on this machine: what `gardienii bench` measures.

`cases` is the one list of what there is to measure; `environments` and `training` measure it, `figures`
is what they give, and `machine` says where. Printing is left to the command line.
"""

from __future__ import annotations

from gardienii_env.bench.cases import CASES, Case, Job, Settings, jobs, missing_extra
from gardienii_env.bench.figures import UNITS, Figure
from gardienii_env.bench.machine import Machine, this_machine

__all__ = [
    "CASES",
    "UNITS",
    "Case",
    "Figure",
    "Job",
    "Machine",
    "Settings",
    "jobs",
    "missing_extra",
    "this_machine",
]
