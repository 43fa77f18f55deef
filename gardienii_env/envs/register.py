"""Registration under a name with Gymnasium and PettingZoo.

The environments themselves are imported when one is made.
"""

from __future__ import annotations

__all__ = ["GYMNASIUM_ID", "PETTINGZOO_ID", "register_gymnasium", "register_pettingzoo"]

GYMNASIUM_ID = "Gardienii-v0"
PETTINGZOO_ID = "gardienii-v0"


def register_gymnasium() -> None:
    """Make `gymnasium.make("Gardienii-v0")` known; importing `gardienii_env` does so."""
    from gymnasium.envs.registration import register, registry

    if GYMNASIUM_ID not in registry:
        register(
            id=GYMNASIUM_ID,
            entry_point="gardienii_env.envs.single:GardieniiSingleEnv",
            vector_entry_point="gardienii_env.envs.vector:GardieniiVectorEnv",
        )


def register_pettingzoo() -> None:
    """Make `pettingzoo.make("aec", "gardienii-v0")` known, where PettingZoo has a registry (1.27)."""
    try:
        from pettingzoo import aec_registry, register
    except ImportError:
        return
    if PETTINGZOO_ID not in aec_registry:
        register("aec", PETTINGZOO_ID, entry_point="gardienii_env.gardienii_v0:env")
