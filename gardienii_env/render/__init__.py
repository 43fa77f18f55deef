"""The game for people: what may be seen of it, in words of four languages, as text and as pictures.

`sight`, `scene` and `texts` need nothing but the package; what draws needs the extra `render`.
"""
