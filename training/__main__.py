"""`python -m training CONFIG [key=value ...]`: train as a configuration says."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from gardienii_env.errors import GardieniiError, MissingExtraError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 0, 2 for a wrong setting, 130 when interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m training",
        description="Train a policy, save it and compare it with the baselines.",
        epilog="example: python -m training configs/quickstart.yaml ppo.decisions=200000 seed=1",
    )
    parser.add_argument("config", help="a YAML file, like configs/quickstart.yaml")
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="change a setting; those of a section are written section.key",
    )
    args = parser.parse_args(argv)
    try:
        _train(args.config, args.overrides)
    except GardieniiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    return 0


def _train(path: str, overrides: Sequence[str]) -> None:
    # Read when torch is loaded: its threads then wait without spinning, better where cores are shared.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from training.config import load_config
        from training.run import run
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"training ({error.name})", "train") from error
    run(load_config(path, overrides))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Be told to terminate as Ctrl-C tells it."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main())
