"""What a run of the arena plays, as plain data: kept in the run's folder, to go on with it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from gardienii_env import __version__
from gardienii_env.agents import Agent, make_agent
from gardienii_env.agents.external import module_file
from gardienii_env.arena.match import check_agents
from gardienii_env.arena.results import MatchResult, TournamentResult
from gardienii_env.arena.tournament import assemble, tables_of
from gardienii_env.errors import AgentError, OptionError, one_of, shown
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, SHIPPED, Ruleset
from gardienii_env.words import count_words

__all__ = ["MATCH", "MAX_DEALS", "TOURNAMENT", "Kind", "Specification"]

Kind = Literal["match", "tournament"]
MATCH: Kind = "match"
TOURNAMENT: Kind = "tournament"

COMMANDS = {MATCH: "evaluate", TOURNAMENT: "tournament"}
FORMAT, VERSION = "gardienii-run", 1
MAX_DEALS = 10**8  # whose games a computer can still hold
TYPES: dict[str, type | tuple[type, ...]] = {
    "format": str,
    "version": int,
    "gardienii_env": str,
    "started": str,
    "kind": str,
    "agents": list,
    "files": dict,
    "players": int,
    "tables": (int, type(None)),
    "ruleset": (str, dict),
    "deals": int,
    "seed": int,
    "duplicate": bool,
    "save_records": bool,
}


@dataclass(frozen=True)
class Specification:
    """What is to be played. Make one with `new` or `from_dict`, which check it.

    Attributes:
        kind: a match or a tournament.
        agents: as they are written on the command line.
        files: digests of the files that agents are made from, by the agent's name.
        players: at a table.
        tables: how many are drawn in a tournament of three or four players; None: as many as by default.
        ruleset: of all games.
        deals, seed, duplicate: of each table's match, as in `duplicate_match`.
        save_records: whether the games' records are kept.
        started: when the run began, as ISO 8601 in UTC.
    """

    kind: Kind
    agents: tuple[str, ...]
    files: Mapping[str, str]
    players: int
    tables: int | None
    ruleset: Ruleset
    deals: int
    seed: int
    duplicate: bool
    save_records: bool
    started: str

    @classmethod
    def new(cls, kind: Kind, agents: Sequence[str], **options: Any) -> Specification:
        """The specification of a run that begins now, with the agents' files as they are now."""
        names = tuple(name.strip() for name in agents)
        return cls(kind, names, _digests(names), **options)._checked()

    @classmethod
    def from_dict(cls, data: object) -> Specification:
        """Read back what `to_dict` gave; OptionError if it is something else, or the files differ."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise OptionError("this is not the specification of a run.")
        if data.get("version") != VERSION:
            raise OptionError(f"version {shown(data.get('version'))} is not known, but {VERSION}.")
        for key, kind in TYPES.items():
            if key not in data:
                raise OptionError(f"{key} is missing.")
            if not isinstance(data[key], kind) or (isinstance(data[key], bool) and kind is not bool):
                raise OptionError(f"{key}: {shown(data[key])} has a wrong type.")
        if data["gardienii_env"] != __version__:
            raise OptionError(
                f"it was begun with version {data['gardienii_env']} of gardienii-env, and this is "
                f"{__version__}: the games could differ."
            )
        rest = {key: data[key] for key in TYPES if key not in ("format", "version", "gardienii_env")}
        ruleset = data["ruleset"]
        if isinstance(ruleset, str) and ruleset not in SHIPPED:
            raise OptionError(one_of("the ruleset", ruleset, SHIPPED))
        rest["ruleset"] = Ruleset.get(ruleset)
        rest["agents"] = tuple(data["agents"])
        return cls(**rest)._checked()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "gardienii_env": __version__,
            "started": self.started,
            "kind": self.kind,
            "agents": list(self.agents),
            "files": dict(self.files),
            "players": self.players,
            "tables": self.tables,
            "ruleset": self.ruleset.reference(),
            "deals": self.deals,
            "seed": self.seed,
            "duplicate": self.duplicate,
            "save_records": self.save_records,
        }

    def _checked(self) -> Specification:
        """Itself, if it makes sense."""
        if self.kind not in COMMANDS:
            raise OptionError(f"kind: {shown(self.kind)} is neither of {', '.join(COMMANDS)}.")
        if not all(isinstance(name, str) for name in self.agents):
            raise OptionError(f"agents: {shown(self.agents)} is not a list of names.")
        if not 1 <= self.deals <= MAX_DEALS or self.seed < 0:
            raise OptionError(
                f"deals, seed: {self.deals} and {self.seed} are not from 1 to {MAX_DEALS} and from 0 up."
            )
        if self.kind == MATCH and not self.players == len(self.agents):
            raise OptionError(f"players: {self.players} is not the number of agents.")
        if self.kind == MATCH and not MIN_PLAYERS <= self.players <= MAX_PLAYERS:
            raise AgentError(
                f"--agents: {count_words(len(self.agents), 'agent')}; give {MIN_PLAYERS} to "
                f"{MAX_PLAYERS}, one for each player."
            )
        _ = self.seating
        return self

    @property
    def seating(self) -> tuple[tuple[int, ...], ...]:
        """Which agents sit at each table."""
        if self.kind == MATCH:
            return (tuple(range(self.players)),)
        return tables_of(len(self.agents), self.players, self.tables, self.seed)

    @property
    def labels(self) -> tuple[str, ...]:
        """The agents' names, numbered where several have the same."""
        times, seen, labels = Counter(self.agents), Counter[str](), []
        for name in self.agents:
            seen[name] += 1
            labels.append(f"{name} ({seen[name]})" if times[name] > 1 else name)
        return tuple(labels)

    @property
    def rotations(self) -> int:
        """How often each deal is played at a table."""
        return self.players if self.duplicate else 1

    @property
    def num_games(self) -> int:
        """How many games there are to play."""
        return len(self.seating) * self.deals * self.rotations

    @property
    def command(self) -> str:
        """A command that plays the same games; an own ruleset is called by its name."""
        ruleset = self.ruleset.reference()
        words = ["gardienii", COMMANDS[self.kind], "--agents", ",".join(self.agents)]
        if self.kind == TOURNAMENT:
            words += ["--players", str(self.players)]
        if self.tables is not None:
            words += ["--tables", str(self.tables)]
        words += ["--deals", str(self.deals), "--seed", str(self.seed)]
        if ruleset != SHIPPED[0]:
            words += ["--ruleset", ruleset if isinstance(ruleset, str) else self.ruleset.name]
        if not self.duplicate:
            words.append("--independent")
        return shlex.join(words)

    def make_agents(self, trust: bool, given: Mapping[str, Agent] = MappingProxyType({})) -> list[Agent]:
        """The agents, checked to fit; AgentError, or OptionError if a file is not what it was.

        Those that are `given`, by name, are not made again, and their files need not be there.
        """
        now = _digests([name for name in self.agents if name not in given])
        for name, digest in self.files.items():
            if now.get(name, digest) != digest:
                raise OptionError(
                    f"{name}: {_file_of(name)} has changed since the run began; start a new one."
                )
        agents = [given[name] if name in given else make_agent(name, trust) for name in self.agents]
        for seats in self.seating:
            check_agents([agents[agent] for agent in seats], self.ruleset)
        return agents

    def result(self, games: Sequence[Any]) -> MatchResult | TournamentResult:
        """What came of the run, from each table's games, shape (deals, rotations), dtype `GAME`."""
        labels = self.labels
        results = [
            MatchResult(tuple(labels[agent] for agent in seats), self.ruleset.name, self.seed, table)
            for seats, table in zip(self.seating, games, strict=True)
        ]
        if self.kind == MATCH:
            return results[0]
        return assemble(labels, self.players, self.seating, results)


def _digests(names: Sequence[str]) -> dict[str, str]:
    """The SHA-256 of the file that each agent is made from, by its name; of those that have one."""
    files = {name: _file_of(name) for name in names}
    return {
        name: sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if path is not None and path.is_file()
    }


def _file_of(name: str) -> Path | None:
    """The file that is written after the colon, or that of the module of a user's own code."""
    kind, _, argument = name.partition(":")
    if kind != "python":
        return Path(argument) if argument else None
    return module_file(argument.partition(":")[0])
