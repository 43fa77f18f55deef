"""The rules core: data and compiled functions. It knows nothing of reinforcement learning."""
