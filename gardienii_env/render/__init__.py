"""Drawings of the board for people; each module needs the extra `render`."""
