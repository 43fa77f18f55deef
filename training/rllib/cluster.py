"""A Ray cluster for a run: one of its own on this machine, or one that runs already."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from gardienii_env.errors import MissingExtraError, OptionError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it warns of what RLlib does
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

try:
    import ray
except ImportError as error:
    raise MissingExtraError("backend: rllib", "rllib") from error

from training.rllib.config import RLlibConfig

__all__ = ["on_cluster"]

LOCAL, AUTO = "local", "auto"
PATIENCE = 5.0  # seconds until an address that does not answer is given up


@contextmanager
def on_cluster(config: RLlibConfig) -> Iterator[None]:
    """Be connected to `config.cluster`; a connection that there is already is used, and stays.

    OptionError if there is no such cluster, or if it is too small for the actors of the run.
    """
    mine = not ray.is_initialized()
    if mine:
        _connect(config)
    try:
        _check_size(config)
        yield
    finally:
        if mine:
            ray.shutdown()


def _connect(config: RLlibConfig) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if config.cluster == LOCAL:
        cpus = max(os.cpu_count() or 1, ceil(config.rllib.cpus))
        ray.init(address=LOCAL, num_cpus=cpus, include_dashboard=False, **quiet)
        return
    if config.cluster != AUTO:
        _check_address(config.cluster)
    try:
        ray.init(address=config.cluster, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise OptionError(
            f"cluster: {config.cluster!r}: no cluster can be joined ({reason}); start one with "
            "`ray start --head`, or let the run have its own: cluster=local."
        ) from None


def _check_address(address: str) -> None:
    """OptionError unless something listens there; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal()):
        raise OptionError(
            f"cluster: {address!r} is neither {LOCAL!r} nor {AUTO!r} nor an address like 10.0.0.1:6379."
        )
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise OptionError(f"cluster: nothing answers at {address!r}: {error}.") from None


def _check_size(config: RLlibConfig) -> None:
    """OptionError if the cluster could never hold all actors: the run would wait for ever."""
    has, each = ray.cluster_resources(), config.rllib
    largest = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
    for key, number in (("runner", each.runners), ("learner", each.learners)):
        wanted = getattr(each, f"cpus_per_{key}")
        if number and wanted > largest:
            raise OptionError(
                f"rllib.cpus_per_{key}: no node of the cluster has {wanted:g} CPUs; the largest has "
                f"{largest:g}."
            )
    for name, key, wanted in (
        ("CPU", "runners", config.rllib.cpus),
        ("GPU", "learners", config.rllib.gpus),
    ):
        if wanted > has.get(name, 0):
            raise OptionError(
                f"rllib.{key}: the actors of this run ask for {wanted:g} {name}s, and the cluster has "
                f"{has.get(name, 0):g}; take fewer of them, or add nodes."
            )
