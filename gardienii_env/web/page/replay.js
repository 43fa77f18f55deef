// The page of a replay: steps through a game, draws points over time, shows what agents would have done.

import { DATA, actionWords, ask, boardElement, cardOf, el, inSentence, keyOfGame, languageChoice, moveWords, optionsElement, page, replace, resultElement, rulesElements, say, seatName, select, setLanguage, signed, signsElement, svg, wonWords } from "./board.js";

const HOLD = 900; // milliseconds between moves while it plays by itself
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const SLIGHT = { payoff: 0.05, points: 0.5 }; // a value that is worse by less than this is no mistake to speak of
const LOOKED_AT = 10; // visits below which the value of a move says little
const REMEMBER = 400; // milliseconds after the last step until the address tells of it
const root = document.getElementById("page");
const state = { at: 0, view: "all", judge: 0, timer: null, memory: null };
let game = null, scenes = [], parts = {};

// -- the game -------------------------------------------------------------------------------------

// What a difference (see changes.py) makes of plain data, which stays as it is.
function changed(old, change) {
  if (Array.isArray(change)) return change[0];
  const fresh = Array.isArray(old) ? [...old] : { ...old };
  for (const [key, part] of Object.entries(change)) fresh[key] = changed(old[key], part);
  return fresh;
}

function load(data) {
  game = data;
  scenes = [data.first];
  for (const change of data.changes) scenes.push(changed(scenes.at(-1), change));
}

// The players' names on the board, where each has a seat; the person who played here is told by a word.
function names() {
  return game.names.map((name, seat) => (seat === game.you ? say("web.you") : name));
}

// The seat of the person who played here, or null.
function you() {
  return game.you ?? null;
}

// The scene as the chosen viewer sees it: others' private things are left out.
function sceneAt(at) {
  const scene = scenes[at];
  if (state.view === "all") return scene;
  return { ...scene, viewer: state.view, seats: scene.seats.map((s) => (s.seat === state.view || scene.end ? s : { ...s, own: null })) };
}

// The decisions that are looked at, by their numbers: of all seats, or of the one whose view is shown.
function looked() {
  return game.moves.map((move, k) => k).filter((k) => state.view === "all" || game.moves[k].seat === state.view);
}

// Which of them the chosen agent would have made otherwise.
function otherwise() {
  const judge = game.judges[state.judge];
  return judge ? looked().filter((k) => judge.verdicts[k][0] !== game.moves[k].action) : [];
}

// By how much the move made is worse than the agent's, in its values; null where it does not know both.
function lossAt(k) {
  const [choice, , options] = game.judges[state.judge].verdicts[k];
  const value = (action) => {
    const [, , visits, value] = options.find((option) => option[0] === action) ?? [];
    return (visits ?? LOOKED_AT) < LOOKED_AT ? null : value ?? null;
  };
  const [best, made] = [value(choice), value(game.moves[k].action)];
  return best === null || made === null ? null : Math.max(0, best - made);
}

function isSlight(k) {
  const loss = lossAt(k);
  return loss !== null && loss < SLIGHT[game.judges[state.judge].scale];
}

// -- going through it -----------------------------------------------------------------------------

function go(at) {
  state.at = Math.max(0, Math.min(scenes.length - 1, at));
  rememberPlace();
  draw();
}

// The address tells the move and the agent, behind the key of the game if there is one, for when it is loaded again.
function rememberPlace() {
  clearTimeout(state.memory);
  state.memory = setTimeout(() => {
    const told = new URLSearchParams({ move: state.at });
    const judge = game.judges[state.judge];
    if (judge) told.set("judge", judge.name);
    history.replaceState(null, "", `#${DATA.data.game ? `${keyOfGame()}&` : ""}${told}`);
  }, REMEMBER);
}

// Go where the address says.
async function recallPlace() {
  const told = new URLSearchParams(location.hash.slice(1)), at = Number(told.get("move")), name = told.get("judge");
  if (Number.isInteger(at)) state.at = Math.max(0, Math.min(scenes.length - 1, at));
  const known = game.judges.findIndex((judge) => judge.name === name);
  if (known >= 0) state.judge = known;
  build();
  if (known < 0 && moreJudges().includes(name)) await chooseJudge(name);
}

function goToOther(direction) {
  const places = otherwise();
  const found = direction > 0 ? places.find((k) => k > state.at) : places.findLast((k) => k < state.at);
  if (found !== undefined) go(found);
}

function goToTurn(turn) {
  const at = scenes.findIndex((scene) => scene.turn >= turn);
  go(at < 0 ? scenes.length - 1 : at);
}

function playOn(on) {
  clearInterval(state.timer);
  state.timer = on ? setInterval(() => (state.at < scenes.length - 1 ? go(state.at + 1) : playOn(false)), HOLD) : null;
  parts.play.textContent = on ? `❚❚ ${say("web.pause")}` : `▶ ${say("web.play")}`;
  parts.play.setAttribute("aria-pressed", on);
}

const KEYS = {
  ArrowRight: () => go(state.at + 1),
  ArrowLeft: () => go(state.at - 1),
  Home: () => go(0),
  End: () => go(scenes.length - 1),
  PageDown: () => goToTurn(scenes[state.at].turn + 1),
  PageUp: () => goToTurn(scenes[state.at].turn - 1),
  n: () => goToOther(1),
  p: () => goToOther(-1),
};

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (game === null || typing || event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

// -- the page -------------------------------------------------------------------------------------

function build() {
  document.title = `${say("web.replay")} · Gardienii`;
  const button = (name, label, action) => el("button", { type: "button", "aria-label": label, title: label, onclick: action }, name);
  parts = {
    play: el("button", { type: "button", onclick: () => playOn(state.timer === null) }),
    slider: el("input", { type: "range", min: 0, max: scenes.length - 1, "aria-label": say("web.position"), oninput: () => go(Number(parts.slider.value)) }),
    turn: el("input", { type: "number", min: 1, max: scenes.at(-1).turn, onchange: () => goToTurn(Number(parts.turn.value)) }),
    place: el("output", {}),
    told: el("p", { class: "status", role: "status" }),
    board: el("div"), verdict: el("div"), chart: el("div"), result: el("div"),
    log: el("ol", { class: "log" }),
  };
  const views = [["all", say("web.all_hands")], ...game.names.map((_, seat) => [seat, say("web.as_seat", { name: seatName(seat, game.names, you()) })])];
  root.replaceChildren(
    el("header", { class: "top" }, el("h1", {}, say("web.replay")),
      el("span", { class: "muted" }, `${scenes[0].ruleset} · ${say("count.player", { number: scenes[0].players })}`),
      DATA.data.game ? el("a", { href: "/" }, say("web.new_game")) : null,
      select(say("web.view"), views, state.view, (view) => { state.view = view === "all" ? view : Number(view); draw(); }),
      languageChoice(build)),
    el("nav", { class: "controls", "aria-label": say("web.position") },
      button("«", say("web.first"), () => go(0)), button("‹", say("web.back"), () => go(state.at - 1)),
      button("›", say("web.forward"), () => go(state.at + 1)), button("»", say("web.last"), () => go(scenes.length - 1)),
      parts.play, parts.slider, parts.place,
      el("label", { class: "choice" }, el("span", {}, say("web.go_to_turn")), parts.turn)),
    parts.told,
    el("div", { class: "layout" },
      el("div", { class: "main" }, parts.result, parts.board,
        el("div", { class: "folded" }, signsElement(), el("details", {}, el("summary", {}, say("web.how_to")), rulesElements()))),
      el("aside", {}, parts.verdict,
        el("section", {}, el("h2", {}, say("web.points_over_time")), parts.chart),
        el("section", {}, el("h2", {}, say("web.log")), parts.log),
        el("p", { class: "muted" }, say("web.replay_keys")),
        game.seed === null ? null : el("p", { class: "muted" }, say("web.seed", { seed: game.seed })))));
  root.removeAttribute("aria-busy");
  fillLog();
  playOn(state.timer !== null);
  draw();
}

function fillLog() {
  parts.log.replaceChildren(...game.moves.map((move, k) => el("li", { class: `seat-${move.seat}` },
    move.turn !== game.moves[k - 1]?.turn ? el("b", {}, say("web.turn", { turn: move.turn })) : null,
    el("button", { type: "button", onclick: () => go(k + 1) }, moveWords(move, game.names, you())))));
}

function draw() {
  const scene = sceneAt(state.at), move = game.moves[state.at], last = game.moves[state.at - 1] ?? null;
  const scores = game.scores[state.at].map((score, seat) => (state.view === "all" || seat === state.view || scene.end ? score : null));
  parts.board = replace(parts.board, boardElement(scene, { names: names(), you: null, legal: [], last,
    scores: scores.includes(null) ? null : scores }));
  parts.slider.value = state.at;
  parts.slider.setAttribute("aria-valuetext", say("web.move", { number: state.at, total: scenes.length - 1 }));
  parts.turn.value = scene.turn;
  parts.place.textContent = say("web.move", { number: state.at, total: scenes.length - 1 });
  const end = scene.end ? `. ${say("web.over")}: ${say(`end.${scene.end.reason}`)}` : `. ${say("web.unfinished")}`;
  parts.told.textContent = `${last ? `${say("web.turn", { turn: last.turn })}: ${moveWords(last, game.names, you())}` : say("web.dealt")}${move ? "" : end}`;
  parts.result = replace(parts.result, scene.end ? el("section", { class: "panel end" }, el("h2", {}, wonWords(scene.end, game.names, you())), resultElement(scene, game.rules, game.names, you())) : el("div"));
  parts.verdict = replace(parts.verdict, verdictElement(scene, move));
  parts.chart = replace(parts.chart, chartElement());
  const others = new Set(otherwise());
  [...parts.log.children].forEach((item, k) => {
    item.classList.toggle("other", others.has(k));
    item.classList.toggle("slight", others.has(k) && isSlight(k));
    if (k === state.at - 1) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  });
  const current = parts.log.children[Math.max(state.at - 1, 0)];
  if (current) parts.log.scrollTop = current.offsetTop - parts.log.clientHeight / 2;
}

// -- what agents would have done ------------------------------------------------------------------

function verdictElement(scene, move) {
  const judges = [...game.judges.map((judge, k) => [k, judge.name]), ...moreJudges().map((name) => [name, name])];
  if (!judges.length) return el("div");
  if (!game.judges.length) judges.unshift(["", "–"]);
  const places = otherwise(), judge = game.judges[state.judge];
  const button = (name, label, direction) => el("button", { type: "button", "data-focus": label, disabled: !places.some((k) => (k - state.at) * direction > 0),
    title: label, onclick: () => goToOther(direction) }, name, el("span", {}, ` ${label}`));
  return el("section", { class: "verdict" },
    el("h2", {}, say("web.judge")),
    select(say("web.agent"), judges, state.judge, chooseJudge),
    judge ? el("p", {}, say("web.otherwise", { agent: judge.name, number: places.length, total: looked().length })) : null,
    judge ? el("div", { class: "buttons" }, button("◀", say("web.previous_other"), -1), button("▶", say("web.next_other"), 1)) : null,
    judge && move ? judgedElement(judge, scene, move) : null,
    judge ? worstElement(places) : null);
}

// Decisions made otherwise with what they cost, the worst first; null where the agent has no values.
function worstElement(places) {
  const ranked = places.filter((k) => lossAt(k) !== null).sort((a, b) => lossAt(b) - lossAt(a));
  return ranked.length === 0 ? null : el("div", {}, el("b", {}, say("web.worst")), el("p", { class: "muted" }, say(`web.worst_${game.judges[state.judge].scale}`)), el("ol", { class: "worst" }, ranked.map((k) => el("li", { class: isSlight(k) ? "slight" : null },
    el("button", { type: "button", "data-focus": `worst ${k}`, onclick: () => go(k) }, `${say("web.turn", { turn: game.moves[k].turn })}: ${judgedWords(k)} (−${lossAt(k).toFixed(2)})`)))));
}

// What was done at a decision, and what the agent would have done.
function judgedWords(k) {
  const { action, seat, step, card } = game.moves[k], { name, verdicts } = game.judges[state.judge], choice = verdicts[k][0];
  const told = actionWords(seat === you() ? "you" : "told", action, step, card);
  const made = `${seatName(seat, game.names, you())} ${told}`;
  return choice === action ? say("web.same", { made, agent: name })
    : say("web.instead", { made, agent: name, action: inSentence(actionWords("offer", choice, step, cardOf(scenes[k], choice))) });
}

function judgedElement(judge, scene, move) {
  if (state.view !== "all" && move.seat !== state.view) return null;
  const [choice, value, options] = judge.verdicts[state.at], same = choice === move.action, loss = lossAt(state.at);
  const kind = same ? "same" : isSlight(state.at) ? "differs slight" : "differs";
  return el("div", {},
    el("b", {}, say("web.next_decision")),
    el("p", { class: kind }, `${same ? "=" : "≠"} ${judgedWords(state.at)}`, same || loss === null ? null : ` (${say("web.loss", { loss: loss.toFixed(2) })})`),
    value === null ? null : el("p", {}, say("web.expects", { value: signed(value) })),
    options.length > 1 ? optionsElement(options, scene, move.action, judge.scale) : null);
}

// Agents that the server can still ask; a page that stands alone has none.
function moreJudges() {
  const scene = scenes[0];
  const fits = DATA.data.offer?.fits[scene.ruleset]?.[scene.players] ?? [];
  return fits.filter((name) => !game.judges.some((judge) => judge.name === name));
}

async function chooseJudge(value) {
  if (value in game.judges) state.judge = Number(value);
  else if (value) {
    parts.told.textContent = say("web.thinking", { name: value });
    try {
      const found = await ask(`/api/games/${DATA.data.game}/replay?judge=${encodeURIComponent(value)}`);
      game.judges.push(...found.judges);
      state.judge = game.judges.length - 1;
    } catch (error) {
      parts.told.textContent = error.message;
      return;
    }
  }
  rememberPlace();
  draw();
}

// -- points over time -----------------------------------------------------------------------------

function chartElement() {
  const [width, height, left, right, top, bottom] = [340, 190, 26, 28, 8, 20];
  const seats = game.names.map((_, seat) => seat).filter((seat) => state.view === "all" || seat === state.view);
  const most = Math.max(10, ...game.scores.flat()), steps = Math.max(scenes.length - 1, 1);
  const x = (at) => left + (at / steps) * (width - left - right);
  const y = (points) => height - bottom - (points / most) * (height - top - bottom);
  const gap = [5, 10, 20, 50, 100, 200, 500].find((g) => most / g <= 5) ?? 1000;
  const ticks = Array.from({ length: Math.floor(most / gap) + 1 }, (_, k) => k * gap);
  const lastTurn = scenes.at(-1).turn, turnGap = Math.max(1, Math.ceil(lastTurn / 8 / 5) * 5);
  const turns = Array.from({ length: Math.floor(lastTurn / turnGap) }, (_, k) => (k + 1) * turnGap);
  const labels = spread(seats.map((seat) => [seat, y(game.scores.at(-1)[seat])]));
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": seats.map((seat) => `${seatName(seat, game.names, you())}: ${game.scores[state.at][seat]}`).join("; "),
    onclick: (event) => {
      const box = chart.getBoundingClientRect();
      go(Math.round((((event.clientX - box.left) / box.width) * width - left) / (width - left - right) * steps));
    } },
    ticks.map((points) => [svg("line", { class: "grid", x1: left, x2: width - right, y1: y(points), y2: y(points) }),
      svg("text", { x: left - 5, y: y(points) + 4, "text-anchor": "end" }, String(points))]).flat(),
    turns.map((turn) => svg("text", { x: x(scenes.findIndex((scene) => scene.turn >= turn)), y: height - 3, "text-anchor": "middle" }, String(turn))),
    otherwise().map((k) => svg("line", { class: isSlight(k) ? "other slight" : "other", x1: x(k), x2: x(k), y1: height - bottom, y2: height - bottom + 6 })),
    seats.map((seat) => svg("polyline", { class: `line seat-${seat}`, "stroke-dasharray": DASHES[seat],
      points: game.scores.map((scores, at) => `${x(at).toFixed(1)},${y(scores[seat]).toFixed(1)}`).join(" ") })),
    labels.map(([seat, at]) => svg("text", { class: `label seat-${seat}`, x: width - right + 4, y: at + 4 }, String(game.scores.at(-1)[seat]))),
    svg("line", { class: "cursor", x1: x(state.at), x2: x(state.at), y1: top, y2: height - bottom }));
  const legend = el("ul", { class: "legend" }, seats.map((seat) => el("li", {},
    svg("svg", { viewBox: "0 0 30 8", "aria-hidden": "true" }, svg("line", { class: `line seat-${seat}`, x1: 0, x2: 30, y1: 4, y2: 4, "stroke-dasharray": DASHES[seat] })),
    `${seatName(seat, game.names, you())}: ${game.scores[state.at][seat]}`)));
  return el("figure", {}, chart, legend);
}

// Places for labels that do not overlap, from the top.
function spread(labels) {
  let free = -Infinity;
  return labels.sort((a, b) => a[1] - b[1]).map(([seat, at]) => [seat, (free = Math.max(at, free + 15))]);
}

// -- start ----------------------------------------------------------------------------------------

setLanguage(page.language);
if (DATA.data.first) {
  load(DATA.data);
  recallPlace();
} else {
  ask(`/api/games/${DATA.data.game}/replay`).then((data) => { load(data); recallPlace(); }, (error) => {
    root.removeAttribute("aria-busy");
    root.replaceChildren(el("p", { class: "error", role: "alert" }, error.message), el("a", { href: "/" }, say("web.new_game")));
  });
}
