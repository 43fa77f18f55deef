"""The backend `rllib` of the training scripts: PPO by Ray RLlib, on one machine or on a cluster.

`config` is the schema of its settings, `module` the policy, `runner` what plays, `learning` RLlib's
part, and `run` a whole run, which is otherwise that of `training.run`.
"""
