"""`python -m training.publish FILE.onnx`: let a policy ship with the package, and write its model card.

It is compared with the baselines on deals of its own; the figures go into its manifest, the file into
the package, and `docs/policies.md` is written anew from all files that ship. Without a file, only the
page is written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gardienii_env.agents.best import POLICIES, shipped_policies
from gardienii_env.agents.network import NetworkAgent, write_manifest
from gardienii_env.errors import GardieniiError, OptionError
from gardienii_env.rules.ruleset import SHIPPED, Ruleset
from training.cards import page
from training.matches import Figures, play_match

__all__ = ["main", "publish"]

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"
LARGEST = 2_000_000  # bytes
SEED = 3_000_000  # of the first deal; neither training nor its evaluations use it
FAST, SLOW = ("random", "greedy", "planner"), ("ismcts:400",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 0, or 2 for a file that cannot ship."""
    parser = argparse.ArgumentParser(
        prog="python -m training.publish",
        description="Let a policy ship with the package, and write the model cards.",
    )
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.onnx", help="the policy of a run")
    parser.add_argument("--deals", type=int, default=2000, help="against each baseline (default: 2000)")
    parser.add_argument(
        "--slow-deals", type=int, default=200, help=f"against {', '.join(SLOW)} (default: 200; 0: none)"
    )
    args = parser.parse_args(argv)
    try:
        if args.file is not None:
            print(f"Ships as {publish(args.file, args.deals, args.slow_deals)}")
        write_page()
        print(f"Wrote {PAGE}")
    except GardieniiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def publish(path: Path, deals: int, slow_deals: int) -> Path:
    """Compare a policy with the baselines and put it into the package; returns where it is there.

    OptionError if its ruleset does not ship or the file is too large; AgentError if it is no policy.
    """
    agent = NetworkAgent(path)
    agent.name = path.stem
    manifest = agent.manifest
    name = _shipped_name(manifest.ruleset)
    data = path.read_bytes()
    if len(data) > LARGEST:
        raise OptionError(
            f"{path} has {len(data):,} bytes; a policy that ships has at most {LARGEST:,}."
        )
    played = [(opponent, deals) for opponent in FAST]
    played += [(opponent, slow_deals) for opponent in SLOW if slow_deals]
    figures: list[Figures] = [
        play_match(agent, opponent, manifest.ruleset, manifest.num_players, some, SEED)
        for opponent, some in played
    ]
    POLICIES.mkdir(exist_ok=True)
    shipped = POLICIES / f"{name}-{manifest.num_players}.onnx"
    part = shipped.with_suffix(".part")
    part.write_bytes(data)
    write_manifest(part, replace(manifest, training={**manifest.training, "published": figures}))
    part.replace(shipped)
    return shipped


def write_page() -> None:
    """Write the page of all policies that ship."""
    PAGE.write_text(page(shipped_policies()), encoding="utf-8")


def _shipped_name(ruleset: Ruleset) -> str:
    """Under which name a ruleset of this content ships."""
    for name in SHIPPED:
        if Ruleset.get(name).rules.tobytes() == ruleset.rules.tobytes():
            return name
    raise OptionError(f"The ruleset {ruleset.name!r} does not ship, so its policies do not either.")


if __name__ == "__main__":
    sys.exit(main())
