"""The environments.

`aec`: PettingZoo. `single` and `vector`: Gymnasium, one learner's seat. `sb3`: the same for
stable-baselines3. `batch`: many games, the caller decides for every seat. `openspiel`: OpenSpiel's game.
"""
