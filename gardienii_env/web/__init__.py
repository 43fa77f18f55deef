"""Pages for people: games played in a browser against agents, and replays of recorded games.

`gardienii serve` and `gardienii replay` are made of it. The replay needs nothing but the package; the
server needs starlette and uvicorn (extra `web`).
"""
