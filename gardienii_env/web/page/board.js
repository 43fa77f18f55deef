// A scene (see render/scene.py) drawn as HTML, and the texts of the pages. Nothing here talks to a server.

const DATA = JSON.parse(document.getElementById("data").textContent);
const COLOURS = { W: "white", R: "red", B: "blue", G: "green", D: "dark" };
const SVG = "http://www.w3.org/2000/svg";

// -- elements -------------------------------------------------------------------------------------

// An element with attributes and children; null children are left out, text is text and never markup.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
}

// A choice in a form: a label and a select with [value, text] options.
function select(label, options, value, change) {
  const list = el("select", { onchange: () => change(list.value) });
  for (const [key, words, disabled] of options) {
    list.append(el("option", { value: key, selected: String(key) === String(value), disabled: disabled === true }, words));
  }
  return el("label", { class: "choice" }, el("span", {}, label), list);
}

// -- texts ----------------------------------------------------------------------------------------

const page = { language: pickLanguage() };

function pickLanguage() {
  const wishes = [new URLSearchParams(location.search).get("language"), DATA.language, stored("language"),
    ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return wishes.find((code) => code !== null && Object.hasOwn(DATA.languages, code)) ?? "en";
}

function setLanguage(code) {
  page.language = code;
  store("language", code);
  document.documentElement.lang = code;
}

function stored(name) {
  try { return localStorage.getItem(`gardienii.${name}`); } catch { return null; }
}

function store(name, value) {
  try { localStorage.setItem(`gardienii.${name}`, value); } catch { /* it is only a convenience */ }
}

// A text of the catalogue; `number` decides about the plural form.
function say(key, values = {}) {
  let words = DATA.texts[page.language][key];
  if (typeof words === "object") words = words[new Intl.PluralRules(page.language).select(values.number)];
  return words.replace(/\{(\w+)\}/g, (all, name) => values[name]);
}

function languageChoice(change) {
  return select(say("web.language"), Object.entries(DATA.languages), page.language, (code) => {
    setLanguage(code);
    change();
  });
}

function cardWords(card) {
  const back = card[1];
  const pageWords = back in COLOURS_OF_PAGES ? say(`back.${COLOURS_OF_PAGES[back]}`) : say("back.number", { back });
  return `${say(`front.${COLOURS[card[0]]}`)}, ${pageWords}`;
}

const COLOURS_OF_PAGES = { w: "white", r: "red", b: "blue", g: "green" };

// What an action does, as it is `told` of a player or of `you`, or as an `offer`; `card` is the one that a `take` takes.
function actionWords(form, action, step, card) {
  const [kind, what] = action.split(":");
  const words = (name, values) => say(form === "you" ? `you.${name}` : `${form}.${name}`, values);
  if (kind === "take") return card ? words("take", { card }) : words("slot", { slot: what });
  if (kind === "pass") return words(`pass_${step}`);
  if (kind === "modify") return words(`modify_${/\d/.test(what[1]) ? "L" : "R"}`, { card: what });
  if (kind === "play") return words("play", { card: what });
  return words(`column_${what}`);
}

// An action as the rest of a sentence: "take W3".
function inSentence(words) {
  return /^.\p{Ll}/u.test(words) && !/^\p{Lu}\p{Ll}\p{Lu}/u.test(words) && page.language !== "de" ? words[0].toLowerCase() + words.slice(1) : words;
}

function seatName(seat, names, you) {
  if (seat === you) return say("web.you");
  const place = say("seat.name", { seat });
  return names[seat] ? `${names[seat]} (${place})` : place;
}

function joined(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${say("word.and")} ${words.at(-1)}`;
}

const GAINS = { pearls: "count.pearl", crystals: "count.crystal", golden_eggs: "count.golden_egg", dark_dragons: "count.dark_dragon" };

// A move (see story.py): who did what, the whole set if one was completed, and what it earned.
function moveWords(move, names, you) {
  const form = move.seat === you ? "you" : "told", done = move.set;
  const words = (name, values) => say(form === "you" ? `you.${name}` : `told.${name}`, values);
  const told = [];
  if (!done || move.step === "column") told.push(actionWords(form, move.action, move.step, move.card));
  if (done) {
    told.push(words("set", { cards: joined(done.cards), dragons: say(`count.${COLOURS[done.colour]}_dragon`, { number: done.number }) }));
    const gains = Object.entries(done.gains).map(([name, number]) => say(GAINS[name] ?? `gain.${name}`, { number }));
    if (gains.length) told.push(words("gets", { what: gains.join(", ") }));
  }
  return `${seatName(move.seat, names, you)} ${told.join("; ")}`;
}

// An action as it is offered in a scene; a card beyond the limit costs a crystal.
function offerWords(scene, action, rules) {
  const offer = actionWords("offer", action, scene.step, cardOf(scene, action));
  return rules && action.startsWith("take") && scene.taken >= rules.take_limit ? say("web.costs", { offer }) : offer;
}

function cardOf(scene, action) {
  const [kind, what] = action.split(":");
  if (kind === "take") return scene.supply.find((slot) => slot.slot === what)?.card;
  return kind === "modify" || kind === "play" ? what : null;
}

// -- signs and tokens -----------------------------------------------------------------------------

// Each colour has a sign of its own, so that nobody needs to tell the colours apart.
const SIGNS = {
  W: () => svg("circle", { cx: 12, cy: 12, r: 7, fill: "none", "stroke-width": 3.5, stroke: "currentColor" }),
  R: () => svg("path", { d: "M12 3 22 20H2Z" }),
  B: () => svg("path", { d: "M4 4h16v16H4Z" }),
  G: () => svg("path", { d: "M4 20C2 9 9 3 21 3c0 12-6 19-15 16l6-8-8 9Z" }),
  D: () => svg("path", { d: "m12 1.5 3.1 7 7.6.8-5.7 5.1 1.6 7.5L12 18l-6.6 3.9L7 14.4 1.3 9.3l7.6-.8Z" }),
};

const TOKENS = {
  pieces: ["head.pieces", () => svg("path", { d: "M12 2 21 7v10l-9 5-9-5V7Zm0 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z", "fill-rule": "evenodd" })],
  amulets: ["head.amulets", () => svg("path", { d: "M6 1h2l4 5 4-5h2l-4.3 6A8 8 0 1 1 10.3 7ZM12 10a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Z", "fill-rule": "evenodd" })],
  pearls: ["head.pearls", () => svg("path", { d: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm-3.5 4a3 3 0 1 1 0 .1Z", "fill-rule": "evenodd" })],
  crystals: ["head.crystals", () => svg("path", { d: "M12 1 20 9 12 23 4 9Zm-5 8h10l-5-5Z", "fill-rule": "evenodd" })],
  golden_eggs: ["head.golden_eggs", () => svg("ellipse", { cx: 12, cy: 13, rx: 7.5, ry: 10 })],
  dark_dragons: ["web.dark_dragons", SIGNS.D],
  crest: ["head.crest", () => svg("path", { d: "M3 3h18v9c0 6-4 9-9 11-5-2-9-5-9-11Z" })],
  hand: ["head.hand", () => svg("path", { d: "M3 7 12 3l7 15-9 4ZM15 3h6v14Z" })],
};

function sign(colour) {
  return svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true" }, SIGNS[colour]());
}

// A kind of thing and how many there are of it.
function token(kind, number, title) {
  const [key, shape] = TOKENS[kind];
  const words = title ?? `${say(key)}: ${number}`;
  return el("span", { class: `token ${kind}${number === 0 ? " none" : ""}`, title: words },
    svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true" }, shape()),
    el("span", { class: "unseen" }, words), el("span", { "aria-hidden": "true" }, String(number)));
}

// Values of amulet pieces, each with how many there are of it.
function valuesElement(pieces, label) {
  const words = `${label}: ${pieces.map(({ points, count }) => `${say("count.point", { number: points })} × ${count}`).join(", ") || "–"}`;
  return el("span", { class: "token pieces", title: words },
    svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true" }, TOKENS.pieces[1]()),
    el("span", { class: "unseen" }, words),
    el("span", { class: "values", "aria-hidden": "true" }, pieces.length ? pieces.map(({ points, count }) =>
      el("span", {}, el("b", {}, String(points)), count > 1 ? `×${count}` : null)) : "–"));
}

// -- cards ----------------------------------------------------------------------------------------

// A card; a button where `action` is what a click on it does.
function cardElement(card, { action = null, count = 1, label = null, act = null, small = false, fresh = false, refilled = false } = {}) {
  const back = card[1];
  const pageSign = back in COLOURS_OF_PAGES
    ? el("span", { class: `chip ${back.toUpperCase()}` }, sign(back.toUpperCase()))
    : el("b", {}, back);
  const inside = [
    el("span", { class: "front" }, sign(card[0]), el("span", { class: "name", "aria-hidden": "true" }, card)),
    el("span", { class: "back" }, pageSign),
    count > 1 ? el("span", { class: "count", "aria-hidden": "true" }, `×${count}`) : null,
  ];
  const words = `${label ?? card}: ${cardWords(card)}${count > 1 ? ` ×${count}` : ""}${refilled ? ` (${say("web.new_card")})` : ""}`;
  const classes = `card ${card[0]}${small ? " small" : ""}${fresh ? " fresh" : ""}${refilled ? " refilled" : ""}`;
  if (action === null) return el("span", { class: classes, role: "img", "aria-label": words, title: words }, inside);
  return el("button", { class: `${classes} can`, type: "button", title: words, "aria-label": words,
    "data-focus": `card ${action}`, onclick: () => act(action) }, inside);
}

function handElement(hand, options, kind, seat) {
  const cards = Object.entries(hand).map(([card, count]) => {
    const action = [`modify:${card}`, `play:${card}`].find((name) => options.legal.includes(name)) ?? null;
    const label = action && actionWords("offer", action);
    const fresh = options.last?.card === card && options.last.action.startsWith("take") && options.last.seat === seat;
    return cardElement(card, { action, count, label, act: options.act, small: kind === "small", fresh });
  });
  return el("div", { class: `cards ${kind}` }, cards.length ? cards : el("span", { class: "muted" }, "–"));
}

// -- parts of the board ---------------------------------------------------------------------------

function slotElement(scene, place, options) {
  const name = `take:${place.slot}`;
  if (place.card === null) {
    return el("span", { class: "card empty", role: "img", "aria-label": `${place.slot}: ${say("web.empty")}` });
  }
  const action = options.legal.includes(name) ? name : null;
  const label = action ? offerWords(scene, name, options.rules) : `${place.slot} ${place.card}`;
  return cardElement(place.card, { action, label, act: options.act, fresh: false, refilled: options.last?.action === name });
}

function deckElement(scene, k, options) {
  const deck = scene.decks[k];
  const { number, colour, prize } = scene.spell;
  const laid = options.last?.action.startsWith("modify:") && /\d/.test(options.last.action[8]) === (k === 0);
  const top = k === 0 ? el("b", { class: "number" }, number ?? "–")
    : colour ? el("span", { class: `chip large ${colour}` }, sign(colour)) : el("b", { class: "number" }, "–");
  const words = k === 0 ? (number === null ? say("web.empty") : say("back.number", { back: number }))
    : (colour ? say(`back.${COLOURS[colour]}`) : say("web.empty"));
  return el("div", { class: `leaf${laid ? " fresh" : ""}` },
    el("span", { class: "unseen" }, `${words}.`), top,
    k === 0 && prize ? prizeElement(prize) : null,
    el("small", {}, say("count.card", { number: deck.size })));
}

function prizeElement(prize) {
  const parts = [];
  if (prize.piece !== "none") {
    parts.push(el("span", { class: "token pieces", title: say(`prize.${prize.piece}`) },
      svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true" }, TOKENS.pieces[1]()),
      el("span", { "aria-hidden": "true" }, prize.piece === "lowest" ? "↓" : "↑"),
      el("span", { class: "unseen" }, say(`prize.${prize.piece}`))));
  }
  for (const [kind, key] of [["crystals", "count.crystal"], ["golden_eggs", "count.golden_egg"], ["dark_dragons", "count.dark_dragon"]]) {
    if (prize[kind]) parts.push(token(kind, prize[kind], say(key, { number: prize[kind] })));
  }
  return el("span", { class: "prize", role: "group", "aria-label": say("web.prize") }, parts);
}

function tableElement(scene, options) {
  const slots = (side) => scene.supply.filter((slot) => slot.slot[0] === side)
    .map((slot) => slotElement(scene, slot, options));
  const { number, colour } = scene.spell;
  const spell = number !== null && colour !== null
    ? say("web.spell", { dragons: say(`count.${COLOURS[colour]}_dragon`, { number }) }) : say("spell.incomplete");
  return el("section", { class: "table", "aria-label": say("web.table") },
    el("h3", { class: "caption" }, say("label.supply")),
    el("div", { class: "market" },
      el("div", { class: "cards", role: "group", "aria-label": `${say("label.supply")} L` }, slots("L")),
      el("div", { class: "book", role: "group", "aria-label": say("label.spell") },
        deckElement(scene, 0, options), deckElement(scene, 1, options), el("p", {}, spell)),
      el("div", { class: "cards", role: "group", "aria-label": `${say("label.supply")} R` }, slots("R"))),
    scene.open.length ? el("div", { class: "set" },
      el("b", {}, say("label.open_set")),
      el("span", { class: "cards" }, scene.open.map((card) => cardElement(card, { small: true }))),
      el("span", {}, scene.needed ? say("set.needed", { number: scene.needed }) : "")) : null,
    bankElement(scene));
}

function bankElement(scene) {
  const { bank, amulets } = scene;
  return el("div", { class: "bank", role: "group", "aria-label": say("label.bank") },
    el("b", {}, say("label.bank")),
    ["crystals", "golden_eggs", "dark_dragons", "pearls"].map((kind) => token(kind, bank[kind])),
    bank.crests.length ? token("crest", bank.crests.join(" "), `${say("label.crests")}: ${bank.crests.join(", ")}`) : null,
    valuesElement(bank.pieces, say("label.pieces_left")),
    el("span", { class: "ends" }, el("b", {}, say("web.to_end")), " ",
      token("amulets", `${amulets.made} / ${amulets.needed}`, `${say("web.to_end")}: ${amulets.made} / ${amulets.needed}`)));
}

// A player: tableau, tokens, and the hand where it may be seen.
function seatElement(scene, seat, options) {
  const player = scene.seats[seat];
  const deciding = scene.deciding === seat, active = scene.active === seat && scene.end === null;
  const played = options.last?.seat === seat && /^(play|column)/.test(options.last.action);
  const state = deciding ? say("web.decides") : active ? say("web.active") : null;
  const own = player.own;
  const known = own ? [valuesElement(own.pieces, say("source.pieces")), token("pearls", own.pearl_points, `${say("source.pearls")}: ${say("count.point", { number: own.pearl_points })}`)] : null;
  const inPanel = own && !(options.you === seat);
  return el("section", { class: `seat${deciding ? " deciding" : ""}${active ? " active" : ""}`, "aria-label": seatName(seat, options.names, options.you) },
    el("header", {},
      el("span", { class: `mark seat-${seat}`, "aria-hidden": "true" }),
      el("h3", {}, seatName(seat, options.names, options.you)),
      state ? el("em", {}, state) : null,
      options.scores ? el("span", { class: "points" }, say("count.point", { number: options.scores[seat] })) : null),
    el("div", { class: `columns${played ? " fresh" : ""}` },
      player.columns.map((column) => columnElement(column)),
      player.columns.length ? null : el("span", { class: "muted" }, say("web.no_columns"))),
    el("div", { class: "tokens" },
      token("hand", player.hand_size), token("pieces", player.pieces), token("amulets", player.amulets),
      token("pearls", player.pearls), token("crystals", player.crystals), token("golden_eggs", player.golden_eggs),
      player.crest ? token("crest", player.crest) : null,
      scene.dragons_score ? el("span", { class: "muted" }, say("web.card_points", { points: player.card_points })) : null),
    inPanel ? el("div", { class: "open" }, handElement(own.hand, { legal: [], last: options.last }, "small", seat), el("span", { class: "tokens" }, known)) : null);
}

function columnElement(column) {
  const words = `${say(`front.${COLOURS[column.colour]}`)}: ${say("count.card", { number: column.cards })}`;
  const title = column.closed ? `${words}, ${say("word.closed")}` : words;
  return el("span", { class: `column ${column.colour}${column.closed ? " closed" : ""}`, role: "img", "aria-label": title, title },
    sign(column.colour), el("b", {}, String(column.cards)),
    column.closed ? el("small", {}, say("word.closed")) : null);
}

// What only the viewer knows, with the hand to play from.
function ownElement(scene, options) {
  const own = scene.seats[options.you].own;
  return el("section", { class: "own", "aria-label": say("label.your_hand") },
    el("header", {}, el("h3", {}, say("label.your_hand")),
      valuesElement(own.pieces, say("label.your_pieces")),
      token("pearls", own.pearl_points, `${say("label.your_pearls")}: ${say("count.point", { number: own.pearl_points })}`),
      options.points == null ? null : el("span", { class: "points" }, say("web.own_points", { points: options.points }))),
    handElement(own.hand, options, "large", options.you), plainElement(scene, options),
    options.legal.some((action) => action.startsWith("play")) ? el("small", { class: "note" }, say("web.set_note")) : null);
}

// Buttons for the legal actions that have no card to click.
function plainElement(scene, options) {
  const plain = options.legal.filter((action) => /^(pass|column)/.test(action));
  return plain.length === 0 ? null : el("div", { class: "buttons" }, plain.map((action) => el("button",
    { type: "button", "data-focus": `plain ${action}`, onclick: () => options.act(action) }, actionWords("offer", action, scene.step))));
}

// The whole board. options: names, you (the seat that plays here, or null), legal (actions that may be
// clicked), act (called with one), last (the move just made, to mark it), scores (to show, or null).
function boardElement(scene, options) {
  const order = scene.seats.map((_, k) => ((options.you ?? -1) + 1 + k) % scene.players);
  return el("div", { class: `board players-${scene.players}` },
    el("div", { class: "seats" }, order.map((seat) => seatElement(scene, seat, options))),
    tableElement(scene, options),
    options.you === null ? null : ownElement(scene, options));
}

// Put a new element in the place of another; the focus stays on what has the same `data-focus`.
function replace(old, fresh) {
  const key = old.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  old.replaceWith(fresh);
  if (key !== undefined) [...fresh.querySelectorAll("[data-focus]")].find((e) => e.dataset.focus === key)?.focus({ preventScroll: true });
  return fresh;
}

// What the signs on the board mean, folded away.
function signsElement() {
  const row = (picture, words) => el("li", {}, picture, el("span", {}, words));
  const kinds = Object.entries(TOKENS).map(([kind, [key, shape]]) => row(el("span", { class: `token ${kind}` },
    svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true" }, shape())), kind === "amulets" ? `${say(key)} (${say("web.sign_amulets")})` : say(key)));
  const colours = Object.entries(COLOURS).map(([letter, name]) => row(el("span", { class: `chip ${letter}` }, sign(letter)), `${letter}: ${say(`front.${name}`)}`));
  return el("details", { class: "signs" }, el("summary", {}, say("web.signs")), el("ul", {}, colours, kinds,
    row(cardElement("W3", { small: true }), say("web.sign_card")), row(el("span", {}, "↓ ↑"), say("web.sign_arrows")),
    row(el("span", { class: "values" }, el("span", {}, el("b", {}, "8"), "×3")), say("web.sign_values"))));
}

// The rules in short.
function rulesElements() {
  return ["web.how_cards", "web.how_turn", "web.how_twist", "web.how_prize", "web.how_points", "web.how_end", "web.how_rulesets"].map((key) => el("p", {}, say(key)));
}

// Who won, with the points of all, the best first.
function wonWords(end, names, you) {
  const scores = [...end.scores].sort((a, b) => b - a).join(" : ");
  if (end.winners.length === 1 && end.winners[0] === you) return say("web.you_win", { scores });
  return say("web.wins", { number: end.winners.length, names: joined(end.winners.map((seat) => seatName(seat, names, you))), scores });
}

// A table of points by source at the end of a game, and what the most eggs are.
function resultElement(scene, rules, names, you) {
  const { end } = scene, sources = Object.keys(end.points[0]);
  const head = end.scores.map((_, seat) => el("th", { scope: "col", class: end.winners.includes(seat) ? "won" : null },
    `${seatName(seat, names, you)}${end.winners.includes(seat) ? " ★" : ""}`));
  const row = (key, cells, name) => el("tr", { class: name }, el("th", { scope: "row" }, say(key)), cells.map((cell) => el("td", {}, String(cell))));
  const eggs = end.points.flatMap((points, seat) => {
    const number = scene.seats[seat].golden_eggs, each = rules.egg_points, more = points.eggs - number * each;
    return more === 0 ? [] : [el("p", { class: "muted" }, say("web.egg_note", { name: seatName(seat, names, you), number, each, more, total: points.eggs }))];
  });
  return el("div", {}, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("web.result") },
    el("table", { class: "result" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }), head)),
      el("tbody", {}, row("head.points", end.scores, "won"), sources.map((source) => row(`source.${source}`, end.points.map((points) => points[source])))))), eggs);
}

// What an agent thinks of a decision: a list of [action, share, visits, value], the best first.
// `scale`: what the values are, "payoff" or "points".
function optionsElement(options, scene, made, scale) {
  const percent = (share) => `${Math.round(share * 100)} %`, valued = options.some((option) => option[3] !== null);
  const rows = options.map(([action, share, visits, value]) => el("tr", { class: action === made ? "made" : null },
    el("th", { scope: "row" }, actionWords("offer", action, scene.step, cardOf(scene, action))),
    share === null ? null : el("td", {}, el("span", { class: "bar", "aria-hidden": "true" }, barElement(share)), percent(share)),
    visits === null ? null : el("td", {}, String(visits)),
    valued ? el("td", {}, value === null ? "–" : signed(value)) : null));
  const [, share, visits] = options[0];
  const head = el("tr", {}, el("th", { scope: "col" }, say("web.action")),
    share === null ? null : el("th", { scope: "col" }, say("web.share")),
    visits === null ? null : el("th", { scope: "col" }, say("web.visits")),
    valued ? el("th", { scope: "col" }, say("web.value")) : null);
  return el("div", { class: "scroll" }, el("table", { class: "options" }, el("thead", {}, head), el("tbody", {}, rows)),
    valued ? el("small", {}, say(`web.scale_${scale}`)) : null);
}

function barElement(share) {
  return svg("svg", { viewBox: "0 0 40 8", class: "bar" }, svg("rect", { width: 40 * share, height: 8 }));
}

function signed(value) {
  const digits = Math.abs(value).toFixed(2);
  return digits === "0.00" ? digits : (value < 0 ? "−" : "+") + digits;
}

// Ask the server. Throws a Refusal with what the server says, or without `status` where it cannot be reached.
// The key of the game stands behind the # of the address, which browsers do not send.
class Refusal extends Error {
  constructor(words, status) {
    super(words);
    this.status = status;
  }
}

async function ask(path, body, key = keyOfGame()) {
  const headers = { Authorization: `Bearer ${key}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer, found;
  try {
    answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body && JSON.stringify(body) });
    found = await answer.json();
  } catch {
    throw new Refusal(say("web.lost"));
  }
  if (!answer.ok) throw new Refusal(refusalWords(answer.status, found.error), answer.status);
  return found;
}

function keyOfGame() {
  return location.hash.slice(1).split("&")[0];
}

// Why the server refused; what it says itself, in English, only where there are no words for it.
function refusalWords(status, error) {
  const known = `refusal.${status}`;
  return known in DATA.texts.en ? say(known) : `${say("refusal.other")}: ${error}`;
}

export { DATA, Refusal, actionWords, ask, boardElement, cardOf, cardWords, el, inSentence, keyOfGame, languageChoice, moveWords, offerWords, optionsElement, page, replace, resultElement, rulesElements, say, seatName, select, setLanguage, signed, signsElement, store, stored, svg, wonWords };
