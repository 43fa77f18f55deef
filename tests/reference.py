"""A slow second implementation of the rules, for tests to compare the engine with.

It was written from the rules alone, shares no code with the engine and prefers the obvious to the
fast: cards are strings, hands are counters, decks are lists with the bottom card first. The
docstring of each method says which sentence of the rules it stands for.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

# The colours, in the order used everywhere: white, red, blue, green.
COLOURS = ["W", "R", "B", "G"]

# The 33 card types in the order of their type index: numbered pages, coloured pages, dark dragon.
CARDS = [
    *("W1", "W2", "W3", "W4", "W5"),
    *("R1", "R2", "R3", "R4", "R5"),
    *("B1", "B2", "B3", "B4", "B5"),
    *("G1", "G2", "G3", "G4", "G5"),
    *("Wr", "Wb", "Wg"),
    *("Rw", "Rb", "Rg"),
    *("Bw", "Br", "Bg"),
    *("Gw", "Gr", "Gb"),
    "D6",
]

DARK = "D6"
SIDES = ["L", "R"]
SLOTS = ["L0", "L1", "R0", "R1"]


def front(card: str) -> str:
    """A card is written front then back: the front is a colour or dark."""
    return card[0]


def back(card: str) -> str:
    """The back is a number (a left page) or a colour in lower case (a right page)."""
    return card[1]


def side_of(card: str) -> str:
    """A card with a number on the back belongs to the left deck, one with a colour to the right."""
    return "L" if back(card).isdigit() else "R"


def card_value(ruleset: Mapping[str, Any], card: str) -> int:
    """A dark dragon, a number 1-5 on the back and a colour on the back have values of their own."""
    values = ruleset["card_values"]
    if card == DARK:
        return int(values["dark"])
    if side_of(card) == "L":
        return int(values[back(card)])
    return int(values["colour"])


def sorted_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Card -> count in the order of the types, without the zeros."""
    return {card: counts[card] for card in CARDS if counts.get(card, 0) > 0}


class Player:
    """What one player owns."""

    def __init__(self) -> None:
        self.hand: Counter[str] = Counter()
        # The part of the hand of which everybody knows the types (taken from the supply or given).
        self.known: Counter[str] = Counter()
        # The tableau, from left to right: the colour of a column and the cards in it.
        self.columns: list[tuple[str, list[str]]] = []
        self.pieces: list[int] = []
        self.pearls: list[int] = []
        self.crystals = 0
        self.eggs = 0
        self.crest: int | None = None

    def receive_openly(self, card: str) -> None:
        """A card that is taken or given comes into the hand before the eyes of all."""
        self.hand[card] += 1
        self.known[card] += 1

    def give_up(self, card: str) -> None:
        """A card leaves the hand; held both known and unknown, it counts as the known one."""
        self.hand[card] -= 1
        if self.known[card] > 0:
            self.known[card] -= 1

    def amulets(self) -> int:
        """Every third piece of a player completes an amulet."""
        return len(self.pieces) // 3

    def column(self, colour: str) -> list[str] | None:
        """The cards in the column of a colour, None where the player has no such column."""
        for column_colour, cards in self.columns:
            if column_colour == colour:
                return cards
        return None

    def tableau(self) -> list[str]:
        """All cards the player has played."""
        return [card for _, cards in self.columns for card in cards]


class ReferenceGame:
    """One game from a given deal; forced decisions are made by themselves."""

    def __init__(self, ruleset: Mapping[str, Any], players: int, deal: Mapping[str, Any]) -> None:
        """Nothing is random after the set-up: the deal decides. Seat 0 starts."""
        self.ruleset = ruleset
        self.players = players
        self.end: str | None = None

        self.decks: dict[str, list[str]] = {"L": list(deal["left"]), "R": list(deal["right"])}
        # The cards laid by players that still lie on each deck: always the uppermost of the deck.
        self.laid_cards: dict[str, list[str]] = {"L": [], "R": []}
        self.supply: dict[str, list[str | None]] = {}
        for side in SIDES:
            self.supply[side] = list(deal["supply"][side])

        self.seats = [Player() for _ in range(players)]
        self.not_dealt: Counter[str] = Counter(ruleset["starting_cards"])
        for seat, hand in enumerate(deal["hands"]):
            # Starting cards are dealt face down: in the hand, but not known to the others.
            self.seats[seat].hand.update(hand)
            self.not_dealt.subtract(hand)

        self.bank_pieces: list[int] = []
        for points, count in deal["pieces"].items():
            self.bank_pieces += [int(points)] * count
        self.bank_pieces.sort()
        self.bank_pearls: list[int] = list(deal["pearls"])
        self.bank_crystals: int = ruleset["crystals"]
        self.bank_eggs: int = ruleset["golden_eggs"]
        self.bank_dark: int = ruleset["dark_dragons"]
        self.bank_crests: list[int] = list(ruleset["crests"])

        self.turns = 0
        self.active = 0
        self.player: int | None = 0
        self.step = "take"
        # The state of the turn: cards taken, crystals paid, sides laid on, cards of an unfinished
        # set (in the order in which they were chosen).
        self.taken = 0
        self.paid = 0
        self.laid: dict[str, bool] = {"L": False, "R": False}
        self.open_cards: list[str] = []
        # No amulets and no turns yet can end the game, but it may begin without a supply.
        if self._supply_is_empty():
            self._stop("supply")
        self._make_forced_decisions()

    # ----- decisions ------------------------------------------------------------------------

    def legal(self) -> list[str]:
        """The names of the legal actions, in the order of their ids."""
        if self.player is None:
            return []
        if self.step == "take":
            return self._legal_takes()
        if self.step == "modify":
            return self._legal_modifications()
        if self.step == "play":
            return self._legal_plays()
        # Where a third or fourth column goes: both ends are offered.
        return ["column:left", "column:right"]

    def apply(self, action: str) -> None:
        """One decision of the deciding player, then all that are forced."""
        if action not in self.legal():
            raise ValueError(f"not legal: {action}")
        self._do(action)
        self._make_forced_decisions()

    def _make_forced_decisions(self) -> None:
        """A decision with exactly one legal action is made automatically."""
        while self.player is not None:
            actions = self.legal()
            if not actions:
                raise AssertionError("a decision without a legal action")
            if len(actions) > 1:
                return
            self._do(actions[0])

    def _do(self, action: str) -> None:
        """Carry out one action, known to be legal, in the step the game is in."""
        kind, _, argument = action.partition(":")
        if kind == "take":
            self._take(argument)
        elif kind == "modify":
            self._modify(argument)
        elif kind == "play":
            self._play(argument)
        elif kind == "column":
            self._place_column(argument)
        elif self.step == "take":
            # pass: stop taking.
            self.step = "modify"
        elif self.step == "modify":
            # pass: lay no (further) card.
            self.step = "play"
        else:
            # pass: play nothing.
            self._next_to_play()

    def _decider(self) -> Player:
        if self.player is None:
            raise AssertionError("the game is over")
        return self.seats[self.player]

    # ----- step 1: take ---------------------------------------------------------------------

    def _legal_takes(self) -> list[str]:
        """Any filled slot while the limit is not reached; pass once a card was taken."""
        actions = []
        if self._may_take_another():
            for slot in SLOTS:
                if self._slot(slot) is not None:
                    actions.append("take:" + slot)
        if self.taken > 0:
            actions.append("pass")
        return actions

    def _may_take_another(self) -> bool:
        """So many are free; each one more costs a crystal, so many crystals at most in a turn."""
        if self.taken < self.ruleset["take_limit"]:
            return True
        return self.paid < self.ruleset["crystals_per_turn"] and self._decider().crystals > 0

    def _slot(self, slot: str) -> str | None:
        """The card in a slot; None where it is empty or where there is no such slot."""
        cards = self.supply[slot[0]]
        number = int(slot[1])
        return cards[number] if number < len(cards) else None

    def _take(self, slot: str) -> None:
        """Take the card of a slot, paying a crystal to the bank if it is beyond the limit.

        The slot is refilled at once with the top card of the deck of its side; where that deck is
        empty the slot stays empty for good: nothing ever fills a slot but taking from it.
        """
        card = self._slot(slot)
        if card is None:
            raise AssertionError("an empty slot")
        if self.taken >= self.ruleset["take_limit"]:
            self._decider().crystals -= 1
            self.bank_crystals += 1
            self.paid += 1
        self.taken += 1
        self._decider().receive_openly(card)
        side = slot[0]
        self.supply[side][int(slot[1])] = self._turn_up(side)

    def _turn_up(self, side: str) -> str | None:
        """The top card of a deck, be it one that a player laid there; None from an empty deck."""
        if not self.decks[side]:
            return None
        if self.laid_cards[side]:
            self.laid_cards[side].pop()
        return self.decks[side].pop()

    # ----- step 2: modify -------------------------------------------------------------------

    def _legal_modifications(self) -> list[str]:
        """Pass, or any type in hand for a side not laid on this turn, up to the turn's limit."""
        actions = ["pass"]
        if sum(self.laid.values()) < self.ruleset["modifications_per_turn"]:
            for card in CARDS:
                if self._decider().hand[card] > 0 and not self.laid[side_of(card)]:
                    actions.append("modify:" + card)
        return actions

    def _modify(self, card: str) -> None:
        """Lay a card from the hand on the deck of its side. No slot is filled by it."""
        side = side_of(card)
        self._decider().give_up(card)
        self.decks[side].append(card)
        self.laid_cards[side].append(card)
        self.laid[side] = True

    # ----- steps 3 and 5: play, and follow --------------------------------------------------

    def _spell_number(self) -> int | None:
        """The number on the back of the top card of the left deck."""
        return int(back(self.decks["L"][-1])) if self.decks["L"] else None

    def _spell_colour(self) -> str | None:
        """The colour on the back of the top card of the right deck, as a colour of fronts."""
        return back(self.decks["R"][-1]).upper() if self.decks["R"] else None

    def _legal_plays(self) -> list[str]:
        """Pass before the first card of a set; and each type with which a set can be completed."""
        actions = [] if self.open_cards else ["pass"]
        number = self._spell_number()
        colour = self._spell_colour()
        # While either deck is empty the spell is incomplete and nothing can be played.
        if number is None or colour is None:
            return actions
        # No dragons of a closed column can be played any more.
        if self._is_closed(self._decider(), colour):
            return actions
        for card in CARDS:
            if self._can_go_on_with(card, colour, number - len(self.open_cards)):
                actions.append("play:" + card)
        return actions

    def _can_go_on_with(self, card: str, colour: str, needed: int) -> bool:
        """Types are chosen in ascending order, equal allowed, and the set must be completable.

        After this card the others must be of its type or of later ones, so the hand has to hold
        as many suitable cards from this type on as the set still needs.
        """
        hand = self._decider().hand
        if hand[card] == 0 or not self._is_suitable(card, colour):
            return False
        if self.open_cards and CARDS.index(card) < CARDS.index(self.open_cards[-1]):
            return False
        from_here_on = CARDS[CARDS.index(card) :]
        available = sum(hand[other] for other in from_here_on if self._is_suitable(other, colour))
        return available >= needed

    def _is_suitable(self, card: str, colour: str) -> bool:
        """The spell asks for fronts of its colour; dark ones stand in for it."""
        return front(card) in (colour, "D")

    def _is_closed(self, player: Player, colour: str) -> bool:
        """Where the ruleset says so, a column with a neighbour on both sides is closed."""
        if not self.ruleset["enclosed_columns_close"]:
            return False
        return colour in [column_colour for column_colour, _ in player.columns[1:-1]]

    def _play(self, card: str) -> None:
        """A chosen card leaves the hand at once and lies open until the set is complete."""
        self._decider().give_up(card)
        self.open_cards.append(card)
        if len(self.open_cards) < self._spell()[0]:
            return
        # The last card of a set that starts a third or fourth column: the player says where.
        player = self._decider()
        starts_column = player.column(self._spell()[1]) is None
        third_or_fourth = starts_column and len(player.columns) in (2, 3)
        if self.ruleset["enclosed_columns_close"] and third_or_fourth:
            self.step = "column"
        else:
            self._finish_set("right")

    def _place_column(self, end: str) -> None:
        """The player has chosen the left or the right end for the new column."""
        self._finish_set(end)

    def _finish_set(self, end: str) -> None:
        """The set goes into the column of the spell's colour; then comes the prize.

        The first time this starts a column: the first alone, the second to its right, the others
        where the player chose, or always at the right end.
        """
        player = self._decider()
        number, colour = self._spell()
        column = player.column(colour)
        if column is not None:
            column.extend(self.open_cards)
        elif end == "left":
            player.columns.insert(0, (colour, list(self.open_cards)))
        else:
            player.columns.append((colour, list(self.open_cards)))
        self.open_cards = []
        self._give_prize(player, number)
        self._next_to_play()

    def _spell(self) -> tuple[int, str]:
        """The number and the colour of a spell that is complete."""
        number = self._spell_number()
        colour = self._spell_colour()
        if number is None or colour is None:
            raise AssertionError("the spell is incomplete")
        return number, colour

    def _next_to_play(self) -> None:
        """Clockwise from the active player every other one may play, whoever played before."""
        if self.player is None:
            raise AssertionError("the game is over")
        following = (self.player + 1) % self.players
        if following == self.active:
            self._end_turn()
        else:
            self.player = following
            self.step = "play"

    # ----- step 4: the prize ----------------------------------------------------------------

    def _give_prize(self, player: Player, number: int) -> None:
        """The prize of the number; what the bank no longer has is not given."""
        prize = self.ruleset["prizes"][str(number)]

        # The lowest or the highest of the pieces left.
        if prize["piece"] != "none" and self.bank_pieces:
            piece = self.bank_pieces.pop(0 if prize["piece"] == "lowest" else -1)
            player.pieces.append(piece)
            # Every third piece completes an amulet, and the player takes the next pearl.
            if len(player.pieces) % 3 == 0 and self.bank_pearls:
                player.pearls.append(self.bank_pearls.pop(0))

        for _ in range(prize.get("crystals", 0)):
            if self.bank_crystals > 0:
                self.bank_crystals -= 1
                player.crystals += 1
        for _ in range(prize.get("dark_dragons", 0)):
            if self.bank_dark > 0:
                self.bank_dark -= 1
                player.receive_openly(DARK)
        for _ in range(prize.get("golden_eggs", 0)):
            if self.bank_eggs > 0:
                self.bank_eggs -= 1
                player.eggs += 1

        # Then, with columns of all four colours for the first time: the highest crest left.
        if player.crest is None and len(player.columns) == len(COLOURS) and self.bank_crests:
            player.crest = self.bank_crests.pop(0)

    # ----- the end --------------------------------------------------------------------------

    def _end_turn(self) -> None:
        """The turn is finished: see, in this order, whether amulets, supply or limit end it all."""
        self.turns += 1
        self._forget_turn()
        amulets = sum(player.amulets() for player in self.seats)
        if amulets >= self.ruleset["amulets_to_end"][str(self.players)]:
            self._stop("amulets")
        elif self._supply_is_empty():
            self._stop("supply")
        elif self.turns >= self.ruleset["turn_limit"]:
            self._stop("turn_limit")
        else:
            # The player to the left (clockwise) becomes active.
            self.active = (self.active + 1) % self.players
            self.player = self.active
            self.step = "take"

    def _forget_turn(self) -> None:
        """What is counted within a turn begins anew."""
        self.taken = 0
        self.paid = 0
        self.laid = {"L": False, "R": False}
        self.open_cards = []

    def _supply_is_empty(self) -> bool:
        """There is no card in any supply slot."""
        return all(card is None for side in SIDES for card in self.supply[side])

    def _stop(self, end: str) -> None:
        self.end = end
        self.player = None
        self.step = "over"

    def points(self) -> list[dict[str, int]]:
        """The points of each player, by source, as if the game ended now."""
        most_eggs = max(player.eggs for player in self.seats)
        result = []
        for player in self.seats:
            # Each who has the most eggs, at least one, turns one over, which counts more.
            eggs = player.eggs * self.ruleset["egg_points"]
            if player.eggs > 0 and player.eggs == most_eggs:
                eggs += self.ruleset["egg_majority_points"] - self.ruleset["egg_points"]
            result.append(
                {
                    # The values of the cards played, if dragons score.
                    "dragons": self._dragon_points(player) if self.ruleset["dragons_score"] else 0,
                    # All amulet pieces, whether the amulet is complete or not.
                    "pieces": sum(player.pieces),
                    "pearls": sum(player.pearls),
                    "crystals": player.crystals * self.ruleset["crystal_points"],
                    "eggs": eggs,
                    "crest": player.crest if player.crest is not None else 0,
                }
            )
        return result

    def _dragon_points(self, player: Player) -> int:
        return sum(card_value(self.ruleset, card) for card in player.tableau())

    def final(self) -> dict[str, Any]:
        """How the game ended, as a game record tells it."""
        if self.end is None:
            raise ValueError("the game is not over")
        points = self.points()
        scores = [sum(sources.values()) for sources in points]
        winners = self._winners(scores)
        return {
            "end": self.end,
            "turns": self.turns,
            "scores": scores,
            "winners": winners,
            "payoffs": self._payoffs(winners),
            "points": points,
        }

    def _winners(self, scores: list[int]) -> list[int]:
        """Most points; among those level most cards in the tableau; all still level win."""
        leaders = [seat for seat in range(self.players) if scores[seat] == max(scores)]
        cards = {seat: len(self.seats[seat].tableau()) for seat in leaders}
        return [seat for seat in leaders if cards[seat] == max(cards.values())]

    def _payoffs(self, winners: list[int]) -> list[float]:
        """A winner's share w is 1/k, any other's 0; the payoff is (N w - 1) / (N - 1)."""
        payoffs = []
        for seat in range(self.players):
            share = 1 / len(winners) if seat in winners else 0.0
            payoffs.append((self.players * share - 1) / (self.players - 1))
        return payoffs

    # ----- who knows what -------------------------------------------------------------------

    def public(self) -> dict[str, Any]:
        """What everybody sees."""
        left = self._spell_number()
        right = self._spell_colour()
        needed = 0
        if self.open_cards:
            needed = self._spell()[0] - len(self.open_cards)
        pieces = Counter(self.bank_pieces)
        return {
            "active": self.active,
            "deciding": self.player,
            "step": self.step,
            "turns": self.turns,
            "taken": self.taken,
            "paid": self.paid,
            "laid": [self.laid["L"], self.laid["R"]],
            "open": sorted_counts(Counter(self.open_cards)),
            "needed": needed,
            "supply": {side: list(self.supply[side]) for side in SIDES},
            "left_top": left,
            "right_top": right.lower() if right is not None else None,
            "left_size": len(self.decks["L"]),
            "right_size": len(self.decks["R"]),
            "columns": [
                [[colour, len(cards)] for colour, cards in player.columns] for player in self.seats
            ],
            "dragon_points": [self._dragon_points(player) for player in self.seats],
            "bank_pieces": {points: pieces[points] for points in sorted(pieces)},
            "bank_crystals": self.bank_crystals,
            "bank_eggs": self.bank_eggs,
            "bank_dark": self.bank_dark,
            "bank_crests": list(self.bank_crests),
            "bank_pearls": len(self.bank_pearls),
            "hand_size": [player.hand.total() for player in self.seats],
            "pieces": [len(player.pieces) for player in self.seats],
            "amulets": [player.amulets() for player in self.seats],
            "pearls": [len(player.pearls) for player in self.seats],
            "crystals": [player.crystals for player in self.seats],
            "eggs": [player.eggs for player in self.seats],
            "crest": [player.crest for player in self.seats],
        }

    def private(self, seat: int) -> dict[str, Any]:
        """What only one seat sees: its hand, the points of its own pieces and pearls."""
        player = self.seats[seat]
        return {
            "hand": sorted_counts(player.hand),
            "piece_points": sorted(player.pieces),
            "pearl_points": sum(player.pearls),
        }

    def recall(self, seat: int) -> dict[str, Any]:
        """What a seat that forgets nothing knows besides."""
        return {
            # The bank's pieces lie open, so everybody saw which piece was taken.
            "piece_points": [sorted(player.pieces) for player in self.seats],
            # Of each hand the cards known by type, and how many are not.
            "known_hand": [sorted_counts(player.known) for player in self.seats],
            "unknown": [player.hand.total() - player.known.total() for player in self.seats],
            "laid_left": list(self.laid_cards["L"]),
            "laid_right": list(self.laid_cards["R"]),
            "below_left": self._below_left(),
            "below_right": self._below("R"),
            "unseen": sorted_counts(self._unseen(seat)),
        }

    def _below(self, side: str) -> str | None:
        """The back of the card under the lowest card laid on a deck; it was the top card before."""
        laid = len(self.laid_cards[side])
        under = self.decks[side][: len(self.decks[side]) - laid]
        if laid == 0 or not under:
            return None
        return back(under[-1])

    def _below_left(self) -> int | None:
        number = self._below("L")
        return int(number) if number is not None else None

    def _unseen(self, seat: int) -> Counter[str]:
        """How many copies of each type a seat has not seen yet.

        These are the deck cards that no player laid there, the starting cards not dealt, and the
        starting cards that the others still hold unknown.
        """
        unseen: Counter[str] = Counter()
        for side in SIDES:
            never_turned_up = len(self.decks[side]) - len(self.laid_cards[side])
            unseen.update(self.decks[side][:never_turned_up])
        unseen.update(self.not_dealt)
        for other, player in enumerate(self.seats):
            if other != seat:
                unseen.update(player.hand)
                unseen.subtract(player.known)
        return unseen


def all_cards(counts: Mapping[str, int]) -> list[str]:
    """Card -> count written out card by card."""
    return [card for card in CARDS for _ in range(counts.get(card, 0))]


def random_deal(ruleset: Mapping[str, Any], players: int, rng: random.Random) -> dict[str, Any]:
    """Set up a game: all chance is in these shuffles."""
    # Shuffle the two decks.
    decks = {"L": all_cards(ruleset["left_deck"]), "R": all_cards(ruleset["right_deck"])}
    supply: dict[str, list[str | None]] = {}
    for side in SIDES:
        rng.shuffle(decks[side])
        # Turn the top cards of the deck face up, slot 0 first.
        supply[side] = [
            decks[side].pop() if decks[side] else None for _ in range(ruleset["supply_per_deck"])
        ]
    # Shuffle the starting cards; seat p is dealt p of them, seat 0 first.
    starting = all_cards(ruleset["starting_cards"])
    rng.shuffle(starting)
    hands: list[list[str]] = []
    for seat in range(players):
        hands.append(starting[:seat])
        starting = starting[seat:]
    # Shuffle the amulet pieces and remove some.
    pieces: list[int] = []
    for points, count in ruleset["amulet_pieces"].items():
        pieces += [int(points)] * count
    rng.shuffle(pieces)
    pieces = pieces[ruleset["pieces_removed"][str(players)] :]
    # Shuffle the pearls; they are taken in this order.
    pearls: list[int] = []
    for points, count in ruleset["pearls"].items():
        pearls += [int(points)] * count
    rng.shuffle(pearls)
    return {
        "left": decks["L"],
        "right": decks["R"],
        "supply": supply,
        "hands": hands,
        "pieces": {str(points): pieces.count(points) for points in sorted(set(pieces))},
        "pearls": pearls,
    }


def play_random(ruleset: Mapping[str, Any], players: int, rng: random.Random) -> ReferenceGame:
    """A game from a random deal in which each decision is made at random."""
    game = ReferenceGame(ruleset, players, random_deal(ruleset, players, rng))
    while game.player is not None:
        game.apply(rng.choice(game.legal()))
    return game
