"""`network:FILE.onnx`: a policy network, run by onnxruntime (extra `arena`).

The file says itself what games it is for: its metadata hold a manifest (see `Manifest`), which is
checked before a game is played. Nothing in such a file runs code. How to make one: `docs/agents.md`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.prior import PRIOR, observe, observed_size
from gardienii_env.errors import (
    AgentError,
    GardieniiError,
    MissingExtraError,
    OptionError,
    one_of,
    shown,
)
from gardienii_env.jsontext import parse_json
from gardienii_env.observation import VIEWS, View, layout
from gardienii_env.rules.actions import ACTIONS, NUM_ACTIONS
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, SHIPPED, Ruleset
from gardienii_env.rules.threads import Threads

__all__ = ["Manifest", "NetworkAgent", "best_legal", "read_manifest", "write_manifest"]

FORMAT, VERSION, ENVIRONMENT = "policy", "1", "gardienii_v0"
PREFIX = "gardienii."
KEYS = ("format", "version", "environment", "view", "num_players", "ruleset", "training", "prior")
OPTIONAL = ("training", "prior")

INPUT, OUTPUT = "observation", "logits"
FLOAT32 = "tensor(float)"

ROWS = 64
"""How many observations are evaluated at a time. It is always the same: libraries add up in another
order for another shape, and so a choice could depend on how many games are asked for."""


# -- the manifest ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Manifest:
    """What games a network is for. OptionError for a wrong view or number of players."""

    view: View
    num_players: int
    ruleset: Ruleset
    """Made from all that `Ruleset.get` takes, a name for example."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Whatever its maker wants to tell: plain data for JSON."""
    prior: str | None = None
    """`planner`: its view of the actions comes after the observation (`agents.prior`). None: nothing."""

    def __post_init__(self) -> None:
        if self.prior not in (None, PRIOR):
            raise OptionError(one_of("prior", self.prior, [PRIOR]))
        layout(self.num_players, self.view)
        object.__setattr__(self, "ruleset", Ruleset.get(self.ruleset))

    @property
    def size(self) -> int:
        """The length of the observations, a prior included."""
        return observed_size(self.num_players, self.view, self.prior is not None)

    def observe(self, batch: Batch, games: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """What the network is to see of games for the seats that decide: shape (k, size), float32."""
        return observe(batch, games, self.view, self.prior is not None)

    def to_metadata(self) -> dict[str, str]:
        """The manifest as the metadata of an ONNX file; OptionError if `training` is not plain data."""
        ruleset = self.ruleset.reference()
        try:
            training = json.dumps(dict(self.training), ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise OptionError(
                f"training: {shown(self.training)} is not data for JSON: {error}."
            ) from None
        values = (
            *(FORMAT, VERSION, ENVIRONMENT, self.view, str(self.num_players)),
            ruleset if isinstance(ruleset, str) else json.dumps(ruleset, ensure_ascii=False),
            training,
            self.prior,
        )
        return {
            PREFIX + key: value for key, value in zip(KEYS, values, strict=True) if value is not None
        }

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, str], name: str) -> Manifest:
        """The manifest in the metadata of the ONNX file of an agent; AgentError, with its name."""
        found = {key: metadata[PREFIX + key] for key in KEYS if PREFIX + key in metadata}
        if not found:
            raise AgentError(
                f"{name}: the file has no manifest, so nothing tells what games it is for; add one with "
                "gardienii_env.agents.network.write_manifest."
            )
        for key in KEYS:
            if key not in found and key not in OPTIONAL:
                raise AgentError(f"{name}: {PREFIX}{key} is missing in the manifest.")
        for key, expected in (("format", FORMAT), ("version", VERSION), ("environment", ENVIRONMENT)):
            if found[key] != expected:
                raise AgentError(
                    f"{name}: {PREFIX}{key} of the manifest is {shown(found[key])}, and only "
                    f"{expected!r} can be played by this version of gardienii-env."
                )
        view = _view(name, found["view"])
        players = [str(number) for number in range(MIN_PLAYERS, MAX_PLAYERS + 1)]
        if found["num_players"] not in players:
            raise AgentError(f"{name}: " + one_of(f"{PREFIX}num_players", found["num_players"], players))
        prior = found.get("prior")
        if prior not in (None, PRIOR):
            raise AgentError(f"{name}: " + one_of(f"{PREFIX}prior", prior, [PRIOR]))
        training = _parsed(name, "training", found.get("training", "{}"))
        return cls(view, int(found["num_players"]), _ruleset(name, found["ruleset"]), training, prior)


def _view(name: str, text: str) -> View:
    for view in VIEWS:
        if view == text:
            return view
    raise AgentError(f"{name}: " + one_of(f"{PREFIX}view", text, VIEWS))


def _ruleset(name: str, text: str) -> Ruleset:
    """A shipped ruleset by its name, or one that is written out; never a file."""
    if text in SHIPPED:
        return Ruleset.get(text)
    try:
        return Ruleset.from_dict(_parsed(name, "ruleset", text))
    except AgentError:
        raise
    except GardieniiError as error:
        raise AgentError(f"{name}: {PREFIX}ruleset of the manifest: {error}") from None


def _parsed(name: str, key: str, text: str) -> dict[str, Any]:
    """A JSON object of the manifest."""
    try:
        data = parse_json(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        also = f" nor one of: {', '.join(SHIPPED)}" if key == "ruleset" else ""
        raise AgentError(
            f"{name}: {PREFIX}{key} of the manifest is {shown(text)}, not a JSON object{also}."
        )
    return data


def read_manifest(path: str | Path) -> Manifest:
    """The manifest of an ONNX file; AgentError or MissingExtraError as for `NetworkAgent`."""
    return NetworkAgent(path).manifest


def write_manifest(path: str | Path, manifest: Manifest) -> None:
    """Write a manifest into the metadata of an ONNX file, in place of one that is there.

    Other metadata stay, and weights that lie in other files come into this one. It needs the library
    `onnx` (extra `train`). OptionError if the file cannot be read or written, or if its observations
    have another length than those of the manifest.
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("Writing the manifest of a network", "train") from error
    metadata = manifest.to_metadata()
    try:
        model = onnx.load(str(path))
    except OSError as error:
        raise OptionError(f"{path} cannot be read: {error.strerror}.") from None
    except Exception as error:  # what protobuf raises has no common class
        raise OptionError(f"{path} is not an ONNX file: {' '.join(str(error).split())}.") from None
    shapes = {given.name: given.type.tensor_type.shape.dim for given in model.graph.input}
    sizes = [axis.dim_value for axis in shapes.get(INPUT, [])][1:]
    if sizes and sizes[0] not in (0, manifest.size):  # 0: any
        raise OptionError(
            f"{path}: the input {INPUT!r} has the length {sizes[0]}, and observations of "
            f"{manifest.num_players} players with view {manifest.view!r} have {manifest.size}."
        )
    others = {p.key: p.value for p in model.metadata_props if not p.key.startswith(PREFIX)}
    onnx.helper.set_model_props(model, {**others, **metadata})
    try:
        onnx.save(model, str(path))
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror}.") from None


# -- the agent -------------------------------------------------------------------------------------


class NetworkAgent(Agent):
    """Takes the legal action with the highest logit; the one with the lowest id where several have it.

    The network has an input `observation`, float32, shape (batch, size): the observation, and after it
    the prior if the manifest tells of one; and an output `logits`, float32, shape (batch, 73). Other
    outputs are not looked at. It is deterministic. A pickle of it holds the network, and needs no file
    where it is loaded.

    Args:
        path: the ONNX file.
        threads: that evaluate observations side by side; choices do not depend on their number.

    Raises AgentError if the file is not there, is not such a network or has no valid manifest, and
    MissingExtraError without onnxruntime.
    """

    def __init__(self, path: str | Path, threads: int = 1) -> None:
        self.path, self.threads = Path(path).absolute(), Threads(threads)
        self.name = f"network:{path}"
        self._content = _content(self.name, self.path)
        self._open()

    def _open(self) -> None:
        self._session = _session(self.name, self._content)
        metadata = self._session.get_modelmeta().custom_metadata_map
        self.manifest = Manifest.from_metadata(metadata, self.name)
        _check_shapes(self.name, self._session, self.manifest)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def check(self, ruleset: Ruleset, num_players: int) -> None:
        """AgentError unless the network is for this number of players and a ruleset of this content."""
        trained = self.manifest
        if num_players != trained.num_players:
            raise AgentError(
                f"{self.name} is a network for {trained.num_players} players, and this game has "
                f"{num_players}."
            )
        if ruleset is not trained.ruleset and ruleset.rules.tobytes() != trained.ruleset.rules.tobytes():
            mine, other = trained.ruleset.to_dict(), ruleset.to_dict()
            fields = [key for key in mine if key != "name" and mine[key] != other[key]]
            raise AgentError(
                f"{self.name} is a network for the ruleset {trained.ruleset.name!r}, and this game has "
                f"{ruleset.name!r}, which differs in {', '.join(fields)}."
            )

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        self.check(batch.ruleset, batch.num_players)
        observations = self.manifest.observe(batch, games)
        return best_legal(self.name, self._logits, observations, batch.masks[games], self.threads)

    def _logits(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return self.outputs(observations, [OUTPUT])[0]

    @property
    def output_names(self) -> list[str]:
        """The names of all outputs of the network."""
        return [given.name for given in self._session.get_outputs()]

    def outputs(
        self, observations: npt.NDArray[np.float32], names: list[str]
    ) -> list[npt.NDArray[np.float32]]:
        """The outputs of these names for observations, shape (ROWS, size); AgentError if it fails."""
        try:
            given: list[npt.NDArray[np.float32]] = self._session.run(names, {INPUT: observations})
        except Exception as error:  # onnxruntime's exceptions have no common class
            raise AgentError(f"{self.name} failed: {' '.join(str(error).split())}.") from error
        return given


def best_legal(
    name: str,
    evaluate: Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]],
    observations: npt.NDArray[np.float32],
    masks: npt.NDArray[np.int8],
    threads: Threads | None = None,
) -> npt.NDArray[np.int64]:
    """The legal action with the highest logit in each of k games; the lowest id where several have it.

    Args:
        name: of the agent, for errors.
        evaluate: gives the logits, float32, shape (ROWS, 73), for observations, shape (ROWS, size).
        observations: shape (k, size), float32.
        masks: shape (k, 73), int8, 1 where legal.
        threads: that call `evaluate`; None: this one alone.

    Returns action ids, shape (k,), int64. AgentError if `evaluate` gives another shape, or a logit of a
    legal action that is not a finite number.
    """
    logits = np.empty((len(observations), NUM_ACTIONS), np.float32)

    def write(_: None, first: int, last: int) -> None:
        """The logits of these parts, `ROWS` observations each."""
        padded = np.zeros((ROWS, observations.shape[1]), np.float32)
        for start in range(first * ROWS, min(last * ROWS, len(observations)), ROWS):
            part = observations[start : start + ROWS]
            padded[: len(part)] = part
            given = evaluate(padded)
            if given.shape != (ROWS, NUM_ACTIONS):
                raise AgentError(
                    f"{name} gave logits of shape {given.shape} for {ROWS} observations; expected "
                    f"{(ROWS, NUM_ACTIONS)}."
                )
            logits[start : start + len(part)] = given[: len(part)]

    (threads or Threads(1)).run(write, None, ceil(len(observations) / ROWS))
    wrong = np.argwhere((masks == 1) & ~np.isfinite(logits))
    if len(wrong):
        game, action = wrong[0]
        raise AgentError(
            f"{name} gave the logit {logits[game, action]} for the legal action {ACTIONS[action]!r}; "
            "expected finite numbers."
        )
    best: npt.NDArray[np.int64] = np.where(masks == 1, logits, -np.inf).argmax(axis=1)
    return best


def _content(name: str, path: Path) -> bytes:
    """What is in a file; AgentError if it cannot be read."""
    if not path.is_file():
        raise AgentError(f"{name}: there is no file {str(path)!r}.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise AgentError(f"{name} cannot be read: {error.strerror}.") from None


def _session(name: str, content: bytes) -> Any:
    """An onnxruntime session for what is in a file: not by its path, so what plays is in this one."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(name, "arena") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common class
        reason = " ".join(str(error).split())
        if "external data" in reason.lower():
            raise AgentError(
                f"{name} keeps its weights in another file; gardienii_env.agents.network.write_manifest "
                "puts them all into one."
            ) from error
        raise AgentError(f"{name} is not an ONNX file that onnxruntime can load: {reason}") from error


def _check_shapes(name: str, session: Any, manifest: Manifest) -> None:
    """AgentError unless the network takes the manifest's observations, any number, and gives logits."""
    for kind, tensors, tensor, size in (
        ("input", session.get_inputs(), INPUT, manifest.size),
        ("output", session.get_outputs(), OUTPUT, NUM_ACTIONS),
    ):
        by_name = {given.name: given for given in tensors}
        if tensor not in by_name or (kind == "input" and len(by_name) > 1):
            raise AgentError(
                f"{name}: the network's {kind}s are {', '.join(by_name) or 'none'}; expected {tensor!r}."
            )
        type_, shape = by_name[tensor].type, by_name[tensor].shape
        if type_ != FLOAT32 or len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != size):
            why = f" ({manifest.num_players} players, view {manifest.view!r})" if kind == "input" else ""
            raise AgentError(
                f"{name}: the {kind} {tensor!r} is {type_} of shape {shape}; expected {FLOAT32} of "
                f"shape [batch, {size}]{why}."
            )
        if isinstance(shape[0], int) and shape[0] != ROWS:
            raise AgentError(
                f"{name}: the {kind} {tensor!r} is for batches of {shape[0]} only; export the network "
                "with a batch axis of any length."
            )
