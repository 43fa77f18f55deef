// The pages on which a person begins games and plays them. The server knows the game; this shows it.

import { DATA, Refusal, actionWords, ask, boardElement, cardOf, cardWords, el, inSentence, keyOfGame, languageChoice, moveWords, offerWords, optionsElement, page, replace, resultElement, rulesElements, say, seatName, select, setLanguage, signsElement, store, stored, wonWords } from "./board.js";

const SPEEDS = { slow: 1400, normal: 650, fast: 250, none: 0 };
const RETRY = 2000, CALM = 300; // milliseconds before the next request, when one failed or told nothing
const root = document.getElementById("page");
const offer = DATA.data.offer;

setLanguage(page.language);
if (DATA.data.game) play(DATA.data.game);
else if (DATA.data.missing) missing();
else start();

// An address that leads nowhere.
function missing() {
  root.replaceChildren(el("header", { class: "top" }, el("h1", {}, "Gardienii")), el("p", { class: "error", role: "alert" }, say("web.no_page")), el("a", { href: "/" }, say("web.new_game")));
  root.removeAttribute("aria-busy");
}

function pause(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

// -- games begun in this browser ------------------------------------------------------------------

function knownGames() {
  try { return JSON.parse(stored("games")) ?? []; } catch { return []; }
}

function remember(game) {
  store("games", JSON.stringify([game, ...knownGames().filter((other) => other.id !== game.id)].slice(0, 30)));
}

function forget(id) {
  store("games", JSON.stringify(knownGames().filter((game) => game.id !== id)));
}

// What to say about a request that failed; anything else that went wrong is a fault of this script.
function words(error) {
  if (error instanceof Refusal) return error.message;
  throw error;
}

// -- the first page -------------------------------------------------------------------------------

function start() {
  const chosen = { players: 2, ruleset: offer.rulesets[0], seat: "", opponents: ["", "", ""], ...recall() };
  const draw = () => {
    document.title = `${say("web.new_game")} · Gardienii`;
    root.replaceChildren(
      el("header", { class: "top" }, el("h1", {}, "Gardienii"), languageChoice(draw)),
      el("div", { class: "start" }, formElement(chosen, draw), rulesElement(), gamesElement(draw)));
    root.removeAttribute("aria-busy");
  };
  draw();
}

function recall() {
  try { return JSON.parse(stored("choice")) ?? {}; } catch { return {}; }
}

function formElement(chosen, draw) {
  if (!offer.rulesets.includes(chosen.ruleset)) chosen.ruleset = offer.rulesets[0];
  const agents = offer.fits[chosen.ruleset][chosen.players];
  const change = (name, value) => { chosen[name] = value; store("choice", JSON.stringify(chosen)); draw(); };
  const opponents = [...Array(chosen.players - 1).keys()].map((k) => {
    if (!agents.includes(chosen.opponents[k])) chosen.opponents[k] = agents.find((name) => name === "greedy") ?? agents[0] ?? "";
    return select(say("web.opponent", { number: k + 1 }), offer.agents.map((name) => [name, name, !agents.includes(name)]), chosen.opponents[k],
      (name) => change("opponents", chosen.opponents.map((other, i) => (i === k ? name : other))));
  });
  const seats = [["", say("web.any_seat")], ...[...Array(chosen.players).keys()].map((seat) => [seat, say("seat.name", { seat })])];
  const failed = el("p", { class: "error", role: "alert" });
  const begin = async (event) => {
    event.preventDefault();
    const seat = chosen.seat === "" || chosen.seat >= chosen.players ? null : Number(chosen.seat);
    try {
      const made = await ask("/api/games", { ruleset: chosen.ruleset, opponents: chosen.opponents.slice(0, chosen.players - 1), seat });
      remember({ ...made, ruleset: chosen.ruleset, opponents: chosen.opponents.slice(0, chosen.players - 1), when: Date.now() });
      location.assign(`/games/${made.id}#${made.key}`);
    } catch (error) {
      failed.textContent = words(error);
    }
  };
  return el("form", { class: "panel", onsubmit: begin },
    el("h2", {}, say("web.new_game")),
    select(say("web.players"), [2, 3, 4].map((n) => [n, say("count.player", { number: n })]), chosen.players, (n) => change("players", Number(n))),
    select(say("web.ruleset"), offer.rulesets.map((name) => [name, name]), chosen.ruleset, (name) => change("ruleset", name)),
    opponents, el("p", { class: "muted" }, say("web.strength")),
    select(say("web.your_seat"), seats, chosen.seat, (seat) => change("seat", seat)),
    el("button", { class: "main", type: "submit", disabled: agents.length === 0 }, say("web.start")), failed);
}

function gamesElement(draw) {
  const games = knownGames();
  return el("section", { class: "panel" }, el("h2", {}, say("web.your_games")),
    games.length ? el("ul", { class: "games" }, games.map((game) => {
      const state = el("small", {});
      stateWords(game).then((words) => { state.textContent = words; });
      return el("li", {},
        el("span", {}, el("a", { href: `/games/${game.id}#${game.key}` }, `${new Date(game.when).toLocaleString(page.language)}: ${game.opponents.join(", ")} (${game.ruleset})`), " ", state),
        el("button", { type: "button", "aria-label": say("web.forget"), title: say("web.forget"), onclick: () => { forget(game.id); draw(); } }, "✕"));
    }))
      : el("p", { class: "muted" }, say("web.no_games")));
}

// How a game stands: finished, waiting for the person, or going on.
async function stateWords(game) {
  try {
    const { final, scene, seat } = await ask(`/api/games/${game.id}?after=999999999`, undefined, game.key);
    return final ? `${say("web.finished")}: ${wonWords(scene.end, namesOf(game, scene, seat), seat)}` : say(scene.deciding === seat ? "web.your_turn" : "web.on");
  } catch (error) {
    return error.status === 404 ? say("web.gone") : "";
  }
}

function namesOf(game, scene, seat) {
  return scene.seats.map((_, k) => (k === seat ? null : game.opponents[k - (k > seat ? 1 : 0)]));
}

function rulesElement() {
  return el("section", { class: "panel" }, el("h2", {}, say("web.how_to")), rulesElements());
}

// -- a game ---------------------------------------------------------------------------------------

function play(id) {
  const here = `/api/games/${id}`;
  // `number`: moves known; `shown`: the last state; `queue`: moves still to be shown, one after the other.
  const game = { number: 0, shown: null, scene: null, last: null, log: [], queue: [], points: null, timer: null, busy: false, verdict: null, adviser: null, note: "", told: false };
  const parts = {};

  function build() {
    document.title = `${say("web.game")} · Gardienii`;
    parts.status = el("p", { class: "status", role: "status" });
    parts.alert = el("div", { role: "alert" });
    parts.board = el("div");
    parts.actions = el("div");
    parts.hint = el("div");
    parts.end = el("div");
    parts.log = el("ol", { class: "log" });
    const speeds = Object.keys(SPEEDS).map((name) => [name, say(`web.speed_${name}`)]);
    root.replaceChildren(
      el("header", { class: "top" }, el("h1", {}, "Gardienii"), el("a", { href: "/" }, say("web.new_game")),
        select(say("web.speed"), speeds, speed(), (name) => store("speed", name)), languageChoice(() => { build(); draw(); })),
      parts.status, parts.alert,
      el("div", { class: "layout" },
        el("div", { class: "main" }, parts.end, parts.board,
          el("div", { class: "folded" }, signsElement(), el("details", {}, el("summary", {}, say("web.how_to")), rulesElements()))),
        el("aside", {}, parts.actions,
          el("section", { class: "story" }, el("h2", {}, say("web.log")), parts.log), parts.hint)));
    root.removeAttribute("aria-busy");
  }

  function speed() {
    const name = stored("speed");
    return Object.hasOwn(SPEEDS, name ?? "") ? name : "normal";
  }

  // The seat that plays here is asked only when everything that came before has been shown.
  function asked() {
    return !game.busy && game.queue.length === 0 && game.scene?.deciding === game.shown?.seat;
  }

  // -- news from the server

  function take(state) {
    if (state.number < game.number) return;
    const fresh = state.moves.slice(state.moves.length - (state.number - game.number));
    const first = game.shown === null;
    game.shown = state;
    game.number = state.number;
    if (first) {
      game.log = fresh;
      game.scene = state.scene;
      game.points = state.points;
      game.last = fresh.at(-1) ?? null;
    } else {
      game.queue.push(...fresh);
    }
    if (fresh.length) game.verdict = null;
    showNext();
  }

  // Show the next move; those of the person at once, others after a pause, so that one can follow them.
  function showNext() {
    clearTimeout(game.timer);
    const hold = SPEEDS[speed()], you = game.shown.seat;
    do {
      const next = game.queue.shift();
      if (next === undefined) break;
      game.log.push(next);
      game.last = next;
      game.scene = next.scene;
      game.points = next.points;
    } while (hold === 0 || game.queue[0]?.seat === you);
    if (game.queue.length === 0) [game.scene, game.points] = [game.shown.scene, game.shown.points];
    else game.timer = setTimeout(showNext, hold);
    draw();
  }

  async function listen() {
    for (;;) {
      try {
        const known = game.number;
        const state = await ask(`${here}?after=${known}${game.shown ? "&wait=1&scenes=1" : ""}`);
        if (state.number < known) { location.reload(); return; }  // the server has gone back to an older state
        const again = game.note !== "", fresh = state.number - game.number;
        game.note = "";
        if (game.shown === null || state.number > game.number || state.error !== game.shown.error || state.kept !== game.shown.kept || again) take(state);
        if (state.final !== null) return;
        if (fresh <= 0) await pause(state.error === null ? CALM : RETRY);
      } catch (error) {
        game.note = words(error);
        if (game.shown) draw();
        else root.replaceChildren(el("p", { class: "error", role: "alert" }, game.note), el("a", { href: "/" }, say("web.new_game")));
        if (error.status) return;
        await pause(RETRY);
        if (!parts.board?.isConnected) build();
      }
    }
  }

  // -- what the person does

  async function act(action) {
    if (!asked()) return;
    game.busy = true;
    try {
      take(await ask(`${here}/actions`, { action, number: game.number }));
      game.note = "";
    } catch (error) {
      game.note = words(error);
    }
    game.busy = false;
    draw();
    if (!root.contains(document.activeElement) || document.activeElement === document.body) parts.actions.querySelector("summary")?.focus({ preventScroll: true });
  }

  async function hint() {
    const number = game.number;
    game.adviser = parts.adviser.value;
    store("adviser", game.adviser);
    game.verdict = "asked";
    draw();
    try {
      const found = await ask(`${here}/hint`, { agent: game.adviser, number });
      game.verdict = found.number === game.number ? found.verdict : null;
    } catch (error) {
      game.verdict = null;
      game.note = words(error);
    }
    draw();
  }

  async function again() {
    await ask(`${here}/again`, {}).catch((error) => { game.note = words(error); });
    game.shown = { ...game.shown, error: null };
    draw();
  }

  async function saveRecord() {
    const found = await fetch(`${here}/record`, { headers: { Authorization: `Bearer ${keyOfGame()}` } });
    const link = el("a", { href: URL.createObjectURL(await found.blob()), download: `${id}.jsonl` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // -- drawing

  function draw() {
    const { shown, scene } = game;
    if (shown === null) return;
    const legal = asked() ? scene.legal : [];
    const over = game.queue.length === 0 && shown.final !== null;
    parts.status.className = `status${legal.length ? " yours" : ""}`;
    const turn = (number) => say("web.turn", { turn: number });
    const told = game.last ? `${turn(game.last.turn)}: ${moveWords(game.last, shown.names, shown.seat)}. ` : "";
    parts.status.textContent = `${told}${game.last?.turn === scene.turn ? "" : `${turn(scene.turn)}: `}${statusWords(scene, over)}`;
    parts.alert.replaceChildren(...alerts());
    parts.board = replace(parts.board, boardElement(scene, { names: shown.names, you: shown.seat, legal, act, last: game.last, scores: null, points: over ? null : game.points, rules: shown.rules }));
    parts.actions = replace(parts.actions, actionsElement(scene, legal));
    parts.hint = replace(parts.hint, hintElement(scene, legal));
    parts.end = replace(parts.end, over ? endElement(scene) : el("div"));
    if (over && !game.told) {
      game.told = true;
      parts.end.querySelector("h2").focus();
    }
    fillLog();
  }

  // What happened, in the order in which it did, as in the replay. A set is told once it is complete.
  function fillLog() {
    const { shown } = game;
    const told = game.log.slice(-300).filter((move, k, all) => move.set || k === all.length - 1 || !move.action.startsWith("play"));
    parts.log.replaceChildren(...told.map((move, k) => el("li", { class: `seat-${move.seat}` },
      move.turn !== told[k - 1]?.turn ? el("b", {}, say("web.turn", { turn: move.turn })) : null, moveWords(move, shown.names, shown.seat))));
    parts.log.scrollTop = parts.log.scrollHeight;
  }

  function statusWords(scene, over) {
    const { shown } = game;
    if (over) return `${say("web.over")}: ${say(`end.${scene.end.reason}`)}. ${wonWords(scene.end, shown.names, shown.seat)}`;
    if (scene.deciding === null) return "";
    if (scene.deciding === shown.seat) return askWords(scene, shown);
    return say("web.thinking", { name: seatName(scene.deciding, shown.names, shown.seat) });
  }

  function askWords(scene, { names, seat, rules }) {
    const values = { taken: scene.taken, limit: rules.take_limit, crystals: scene.seats[seat].crystals };
    if (scene.step === "take" && scene.taken >= rules.take_limit) return say("web.ask_take_more", values);
    if (scene.step === "play" && scene.open.length) return say("web.ask_set");
    if (scene.step === "play" && scene.active !== seat) return say("web.ask_follow", { name: seatName(scene.active, names, seat) });
    return say(`web.ask_${scene.step}`, values);
  }

  function alerts() {
    const { shown } = game, found = [];
    if (game.note) found.push(el("p", { class: "error" }, game.note));
    if (shown.error) found.push(el("p", { class: "error" }, `${say("web.agent_failed")}: ${shown.error} `, el("button", { type: "button", onclick: again }, say("web.again"))));
    if (!shown.kept) found.push(el("p", { class: "error" }, say("web.not_kept")));
    return found;
  }

  function actionsElement(scene, legal) {
    if (!legal.length) return el("div");
    return el("details", { class: "actions", open: stored("actions") === "open", ontoggle: (event) => store("actions", event.target.open ? "open" : "") },
      el("summary", { "data-focus": "actions" }, `${say("label.legal")} (${legal.length})`),
      el("ol", {}, legal.map((action, k) => {
        const card = cardOf(scene, action);
        return el("li", {}, el("button", { type: "button", "data-focus": `action ${k}`, "data-action": action, onclick: () => act(action) },
          k < 9 ? el("kbd", { "aria-hidden": "true" }, String(k + 1)) : null,
          el("span", {}, offerWords(scene, action, game.shown.rules)), card ? el("small", {}, cardWords(card)) : null));
      })));
  }

  function hintElement(scene, legal) {
    if (!legal.length) return el("div");
    const agents = offer.fits[scene.ruleset]?.[scene.players] ?? [];
    if (!agents.length) return el("div");
    const wanted = game.adviser ?? stored("adviser");
    parts.adviser = el("select", { "data-focus": "adviser", "aria-label": say("web.agent") },
      agents.map((name) => el("option", { selected: name === (agents.includes(wanted) ? wanted : agents.at(-1)) }, name)));
    const verdict = game.verdict;
    const options = verdict?.options?.map((o) => [o.action, o.share, o.visits, o.value]);
    return el("section", { class: "verdict" }, el("h2", {}, say("web.hint")),
      el("div", { class: "buttons" }, parts.adviser, el("button", { type: "button", "data-focus": "hint", disabled: verdict === "asked", onclick: hint }, say("web.ask_hint"))),
      verdict === "asked" ? el("p", { role: "status" }, say("web.thinking", { name: game.adviser })) : null,
      options ? el("p", { role: "status" }, say("web.would", { agent: game.adviser, action: inSentence(actionWords("offer", verdict.choice, scene.step, cardOf(scene, verdict.choice))) })) : null,
      options?.length > 1 ? optionsElement(options, scene, verdict.choice, verdict.scale) : null);
  }

  function endElement(scene) {
    return el("section", { class: "panel end" }, el("h2", { tabindex: -1 }, wonWords(scene.end, game.shown.names, game.shown.seat)),
      resultElement(scene, game.shown.rules, game.shown.names, game.shown.seat),
      el("div", { class: "buttons" },
        el("a", { class: "button main", href: `/games/${id}/replay${location.hash}` }, say("web.watch_replay")),
        el("button", { type: "button", onclick: saveRecord }, say("web.save_record")),
        el("a", { class: "button", href: "/" }, say("web.new_game"))));
  }

  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (typing || event.ctrlKey || event.altKey || event.metaKey || !/^[1-9]$/.test(event.key) || !asked()) return;
    const action = game.scene.legal[Number(event.key) - 1];
    if (action) act(action);
  });
  window.addEventListener("hashchange", () => location.reload());

  build();
  listen();
}
