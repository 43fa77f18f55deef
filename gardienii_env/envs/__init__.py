"""The environments: AEC (PettingZoo), single agent (Gymnasium), batched (stable-baselines3)."""
