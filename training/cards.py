"""Model cards of the shipped policies, made from what their files say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from gardienii_env.agents.network import Manifest, read_manifest

__all__ = ["card", "page"]

HEAD = """# Policies that ship

The agent `best` plays the policy of this list that is for the game's ruleset and number of players;
another game is refused. They are ONNX files in `gardienii_env/agents/policies`, played like any
`network:FILE.onnx`: the legal action with the highest logit, and no search. Loading one runs no code.

```bash
gardienii evaluate --agents best,planner --deals 1000
```

This page is written by `python -m training.publish`, from the figures in the files' own manifests.
"""

LIMITS = """**Use and limits.** An opponent, a baseline and a start for research. It knows what its view
shows, nothing else, and plays only games of this ruleset and number of players. It always plays the same
in the same position, so who learns against it alone may find ways to beat it; how far that goes is what
`configs/best_response.yaml` finds out."""


def page(policies: Sequence[Path]) -> str:
    """The page of all policies, in Markdown."""
    return "\n".join([HEAD, *(card(path) for path in policies)])


def card(path: Path) -> str:
    """The card of one policy, in Markdown."""
    manifest = read_manifest(path)
    training = manifest.training
    ruleset = manifest.ruleset.name
    lines = [
        f"## `{path.name}`: {manifest.num_players} players, ruleset `{ruleset}`",
        "",
        _facts(path, manifest),
        "",
        "Its share of the wins, alone among opponents of one kind, each deal played from every seat:",
        "",
        _figures(training.get("published", training.get("evaluation", []))),
        "",
        f"Equals have {1 / manifest.num_players:.3f}.",
        "",
        LIMITS,
        "",
        "<details><summary>Its training configuration</summary>",
        "",
        "```yaml",
        yaml.safe_dump(dict(training.get("configuration", {})), sort_keys=False).strip(),
        "```",
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


def _facts(path: Path, manifest: Manifest) -> str:
    """What it is and how it came about, as a table."""
    training = manifest.training
    config: Mapping[str, Any] = training.get("configuration", {})
    network, imitation = config.get("network", {}), config.get("imitation", {})
    layers = " - ".join(str(size) for size in [manifest.size, *network.get("hidden", []), 73])
    rows = [
        ("network", f"{layers}, {network.get('activation', '?')}; {path.stat().st_size / 1e6:.2f} MB"),
        ("sees", f"view `{manifest.view}`, {manifest.size} numbers{_prior(manifest)}"),
        ("warm start", _warm_start(config, imitation)),
        ("learned by", _learning(config, training)),
        ("trained for", f"{training.get('seconds', 0) / 3600:.1f} hours, warm start included"),
        ("seed", str(config.get("seed", "?"))),
    ]
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in rows)])


def _prior(manifest: Manifest) -> str:
    if manifest.prior is None:
        return ""
    return f", among them what `{manifest.prior}` thinks of each action, which the network corrects"


def _warm_start(config: Mapping[str, Any], imitation: Mapping[str, Any]) -> str:
    if config.get("start_from"):
        return "the network of an earlier run"
    if imitation.get("decisions"):
        return f"imitation of `{imitation['agent']}`, {imitation['decisions']:,} decisions"
    return "none"


def _learning(config: Mapping[str, Any], training: Mapping[str, Any]) -> str:
    selfplay = config.get("selfplay", {})
    weights = {"itself": selfplay.get("latest", 0), "its past": selfplay.get("past", 0)}
    weights |= {f"`{name}`": weight for name, weight in selfplay.get("agents", {}).items()}
    total = sum(weights.values())
    others = ", ".join(f"{name} {weight / total:.0%}" for name, weight in weights.items() if weight)
    against = others or f"`{config.get('env', {}).get('opponents', '?')}`"
    return f"MaskablePPO, {training.get('decisions', 0):,} decisions against {against}"


def _figures(rows: Sequence[Mapping[str, Any]]) -> str:
    """The matches as a table."""
    lines = ["| opponents | games | win share | 95 % interval | margin in points |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        low, high = row["win_share_low"], row["win_share_high"]
        interval = "-" if low is None else f"{low:.3f} to {high:.3f}"
        lines.append(
            f"| `{row['opponent']}` | {row['games']:,} | {row['win_share']:.3f} | {interval} | "
            f"{row['margin']:+.1f} |"
        )
    return "\n".join(lines)
