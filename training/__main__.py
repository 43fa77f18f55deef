"""`python -m training CONFIG [key=value ...]`: train as a configuration says.

`python -m training --resume FOLDER [key=value ...]` goes on with a run that was stopped.
"""

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
    parser.add_argument("config", nargs="?", help="a YAML file, like configs/quickstart.yaml")
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="change a setting; those of a section are written section.key",
    )
    parser.add_argument(
        "--resume",
        metavar="FOLDER",
        help="go on with the run of that folder from its last checkpoint; settings may be changed "
        "that do not change what is learned on (ppo.decisions, selfplay, evaluation ...)",
    )
    args = parser.parse_args(argv)
    path, overrides = args.config, args.overrides
    if args.resume is not None and path is not None and "=" in path:
        path, overrides = None, [path, *overrides]
    if (path is None) == (args.resume is None):
        parser.error("give either a configuration or --resume FOLDER")
    try:
        _train(path, overrides, args.resume)
    except GardieniiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a full disk, most likely
        print(
            f"error: {error.filename or 'a file of the run'}: {error.strerror}. Checkpoints that were "
            "written are kept: once that is repaired, go on with --resume FOLDER.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    return 0


def _train(path: str | None, overrides: Sequence[str], folder: str | None) -> None:
    # Read when torch is loaded: its threads then wait without spinning, better where cores are shared.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from training.config import load_config
        from training.run import resume, run
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"training ({error.name})", "train") from error
    if folder is not None:
        resume(folder, overrides)
    elif path is not None:
        run(load_config(path, overrides))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Be told to terminate as Ctrl-C tells it."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main())
