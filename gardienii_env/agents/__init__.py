"""Agents: policies that decide for any seat, in one game or in a batch.

`make_agents` turns names, as they are written on the command line, into agents.
"""

from __future__ import annotations

from gardienii_env.agents.base import STREAM, Agent, new_streams
from gardienii_env.agents.registry import AGENTS, AgentKind, make_agent, make_agents

__all__ = ["AGENTS", "STREAM", "Agent", "AgentKind", "make_agent", "make_agents", "new_streams"]
