"use strict";
// Shows the status document (docs/status.md) each time that it comes. Names come from outside: they
// are set as text, never as markup.
(() => {
const POINTS = 120;  // seconds of history
const MOST_LINES = 400;  // flows drawn; the table has all
const MOST_LOGGED = 100;
const RINGS = ["same CPU", "same core", "same cache", "same package", "machine"];
const OBJECTS = ["CPU", "core", "cache", "package", "machine"];
const TROUBLED = ["holding", "resetting", "limited", "paused", "stopping"];
const $ = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en", {maximumFractionDigits: 1});
const percent = (part) => `${(100 * part).toFixed(1)} %`;
const seconds = (value) => value === 0 ? "" : value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`;

function make(tag, properties = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...inside);
  return element;
}
function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
function say(element, text) {  // touches nothing that stays as it is: readers and selections live on
  if (element.textContent !== text) element.textContent = text;
}
// One child of `parent` for each item, in their order; those of the same key are kept.
function keep(parent, items, keyOf, create, update) {
  const known = parent.kept ??= new Map();
  const seen = new Set();
  let next = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    seen.add(key);
    let part = known.get(key);
    if (!part) known.set(key, part = create(item));
    update(part, item);
    if (part.root === next) next = next.nextSibling; else parent.insertBefore(part.root, next);
  }
  for (const [key, part] of known) {
    if (!seen.has(key)) { part.root.remove(); known.delete(key); }
  }
}

// --- what was

let last = null;
const histories = new Map();  // by listener
function historyOf(name) {
  if (!histories.has(name)) histories.set(name, {points: [], workers: new Map()});
  return histories.get(name);
}
const idOf = (worker) => `${worker.slot}/${worker.pid}`;
const push = (list, value) => { list.push(value); if (list.length > POINTS) list.shift(); };
const sum = (object) => Object.values(object).reduce((a, b) => a + b, 0);

// `before` is of the same ringdeald, and earlier.
function remember(listener, before, elapsed) {
  const history = historyOf(listener.name);
  const earlier = new Map((before?.workers ?? []).map((each) => [idOf(each), each]));
  let direct = 0;
  const workers = new Map();
  for (const worker of listener.workers) {
    const was = earlier.get(idOf(worker));
    const rates = history.workers.get(idOf(worker)) ?? [];
    if (was) {
      direct += worker.direct - was.direct;
      push(rates, (worker.taken + worker.direct - was.taken - was.direct) / elapsed);
    }
    workers.set(idOf(worker), rates);
  }
  history.workers = workers;
  if (!before) return;
  push(history.points, {
    rate: (listener.accepted - before.accepted + direct) / elapsed,
    recalled: listener.redealt - before.redealt,
    held: listener.mode === "holding" || listener.holds > before.holds,
  });
}

const log = [];
function note(listener, text) {
  log.unshift({at: new Date(), text: `${listener.name}: ${text}`});
  log.length = Math.min(log.length, MOST_LOGGED);
}
const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many}`;
function notice(listener, before) {
  const more = (key) => listener[key] - before[key];
  for (const [reason, count] of Object.entries(listener.recalls)) {
    const new_ones = count - (before.recalls[reason] ?? 0);
    if (new_ones > 0) note(listener, `${plural(new_ones, "connection", "connections")} taken back (${reason})`);
  }
  for (const [reason, count] of Object.entries(listener.accept_errors)) {
    const new_ones = count - (before.accept_errors[reason] ?? 0);
    if (new_ones > 0) note(listener, `${plural(new_ones, "accept", "accepts")} failed (${reason})`);
  }
  if (listener.mode !== before.mode) note(listener, `now ${listener.mode}`);
  else if (more("holds") > 0) note(listener, `held ${plural(more("holds"), "time", "times")}`);
  if (more("workers_joined") > 0) note(listener, `${plural(more("workers_joined"), "worker", "workers")} joined`);
  if (more("workers_left") > 0) note(listener, `${plural(more("workers_left"), "worker", "workers")} left or died`);
  if (more("workers_stuck") > 0) note(listener, `${plural(more("workers_stuck"), "worker was", "workers were")} stuck in a pass`);
  if (more("no_worker_resets") > 0) note(listener, `${plural(more("no_worker_resets"), "connection", "connections")} reset: no worker`);
}

// --- listeners

function line(svg, values, width, height, most) {
  const left = width - (values.length - 1) * width / (POINTS - 1);
  const points = values.map((value, i) =>
    `${(left + i * width / (POINTS - 1)).toFixed(1)},${(height - 1 - (height - 2) * value / most).toFixed(1)}`);
  let shape = svg.querySelector("polyline");
  if (!shape) svg.append(shape = draw("polyline", {}));
  shape.setAttribute("points", points.join(" "));
  return left;
}
function showHistory(part, points) {
  const width = 600, height = 64, step = width / (POINTS - 1);
  const most = Math.max(1, ...points.map((each) => each.rate));
  const left = line(part.history, points.map((each) => each.rate), width, height, most);
  part.history.querySelectorAll(".mark").forEach((each) => each.remove());
  points.forEach((each, i) => {
    const x = left + i * step;
    if (each.held) part.history.append(draw("rect", {class: "mark held", x: x - step / 2, y: 0, width: step, height}));
    if (each.recalled > 0) part.history.append(draw("line", {class: "mark recalled", x1: x, x2: x, y1: 0, y2: 12}));
  });
  const now = points.at(-1)?.rate ?? 0;
  part.history.setAttribute("aria-label", `Connections a second: ${number(now)} now, ${number(most)} at most`);
  say(part.caption, `Connections a second, the last two minutes; at most ${number(most)}. Ticks: taken back. Shaded: held.`);
}
function showMix(part, rings) {
  const all = sum(rings);
  RINGS.forEach((name, ring) => {
    const share = all ? (rings[ring] ?? 0) / all : 0;
    part.mix[ring].style.width = `${100 * share}%`;
    say(part.legend[ring], `${name} ${percent(share)}`);
  });
}

const COLUMNS = [
  ["slot", "", (worker) => worker.slot], ["pid", "wide", (worker) => worker.pid],
  ["state", "", (worker) => worker.state], ["load", "", (worker) => worker.load],
  ["active and pending", "", null], ["pass", "", (worker) => worker.pass_seconds],
  ["a second", "wide", null], ["CPUs", "wide", null],
];
function tableOf(name, part) {
  const head = make("tr");
  COLUMNS.forEach(([title, kind, value], column) => {
    const cell = make("th", {scope: "col", className: kind}, value ? "" : title);
    if (value) {
      cell.append(make("button", {type: "button", onclick: () => {
        part.descending = part.column === column ? !part.descending : title === "load" || title === "pass";
        part.column = column;
        showSort(part);
        if (last) showWorkers(part, last.listeners.find((each) => each.name === name));
      }}, title));
    }
    head.append(cell);
  });
  part.heads = [...head.children];
  part.rows = make("tbody");
  return make("table", {}, make("thead", {}, head), part.rows);
}
function showSort(part) {
  part.heads.forEach((cell, column) => {
    if (column !== part.column) cell.removeAttribute("aria-sort");
    else cell.setAttribute("aria-sort", part.descending ? "descending" : "ascending");
  });
}
function makeRow() {
  const cells = COLUMNS.map(([, kind], column) => make(column === 0 ? "th" : "td", {className: kind}));
  cells[0].setAttribute("scope", "row");
  const part = {root: make("tr", {}, ...cells), cells};
  part.active = make("span", {className: "active"});
  part.pending = make("span", {className: "pending"});
  part.bar = make("div", {className: "bar", role: "img"}, part.active, part.pending);
  part.rate = draw("svg", {class: "small", viewBox: "0 0 84 18", preserveAspectRatio: "none", role: "img"});
  cells[4].append(part.bar);
  cells[6].append(part.rate);
  return part;
}
function showWorkers(part, listener) {
  if (!listener) return;
  const most = Math.max(1, ...listener.workers.map((each) => each.load));
  const value = COLUMNS[part.column][2];
  const order = (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (part.descending ? -1 : 1) || a.slot - b.slot;
  const history = historyOf(listener.name);
  const rates = [...history.workers.values()];
  const most_rate = rates.reduce((most, each) => each.reduce((a, b) => Math.max(a, b), most), 1);
  keep(part.rows, [...listener.workers].sort(order), idOf, makeRow, (row, worker) => {
    const {cells} = row;
    say(cells[0], `${worker.slot}`);
    say(cells[1], worker.pid ? `${worker.pid}` : "");
    say(cells[2], worker.state);
    cells[2].className = `state-${worker.state.replace(/[^a-z]/g, "")}`;
    say(cells[3], number(worker.load));
    row.active.style.width = `${100 * worker.active / most}%`;
    row.pending.style.width = `${100 * worker.pending / most}%`;
    row.bar.setAttribute("aria-label", `${worker.active} active, ${worker.pending} pending`);
    say(cells[5], seconds(worker.pass_seconds));
    const own = history.workers.get(idOf(worker)) ?? [];
    line(row.rate, own, 84, 18, most_rate);
    row.rate.setAttribute("aria-label", `${number(own.at(-1) ?? 0)} a second`);
    say(cells[7], worker.cpus);
  });
}

const FACTS = [
  ["address", (each) => each.address], ["policy", (each) => each.policy],
  ["a second", (each) => number(historyOf(each.name).points.at(-1)?.rate ?? 0)],
  ["active", (each) => number(each.workers.reduce((all, worker) => all + worker.active, 0))],
  ["pending", (each) => number(each.workers.reduce((all, worker) => all + worker.pending, 0))],
  ["workers", (each) => number(each.workers.length)],
  ["accepted", (each) => number(each.accepted)], ["taken back", (each) => number(each.redealt)],
  ["held", (each) => `${number(each.holds)} × / ${number(each.held_seconds)} s`],
];
function makeListener({name}) {
  const part = {column: 0, descending: false};
  part.name = make("h2", {}, name);
  part.mode = make("span", {className: "mode"});
  part.facts = FACTS.map(() => make("dd"));
  part.history = draw("svg", {class: "history", viewBox: "0 0 600 64", preserveAspectRatio: "none", role: "img"});
  part.caption = make("figcaption");
  part.mix = RINGS.map((_, ring) => make("span", {className: `ring${ring}`}));
  part.legend = RINGS.map(() => make("span"));
  part.root = make("article", {"aria-label": `Listener ${name}`},
    make("div", {className: "title"}, part.name, part.mode),
    make("dl", {}, ...FACTS.map(([title], i) => make("div", {}, make("dt", {}, title), part.facts[i]))),
    make("div", {className: "figures"},
      make("figure", {}, part.history, part.caption),
      make("figure", {}, make("div", {className: "mix", "aria-hidden": "true"}, ...part.mix),
        make("ul", {className: "legend"}, ...part.legend.map((text, ring) =>
          make("li", {}, make("i", {className: `ring${ring}`}), text))),
        make("figcaption", {}, "How far from the CPU that received them connections were dealt."))),
    make("div", {className: "scroll", role: "region", tabIndex: 0, "aria-label": `Workers of ${name}`}, tableOf(name, part)));
  showSort(part);
  return part;
}
function showListener(part, listener) {
  say(part.mode, listener.mode);
  part.mode.classList.toggle("trouble", TROUBLED.includes(listener.mode));
  FACTS.forEach(([, value], i) => say(part.facts[i], value(listener)));
  showHistory(part, historyOf(listener.name).points);
  showMix(part, listener.deals_by_ring);
  showWorkers(part, listener);
}

// --- machine

const machine = {built: "", boxes: [], pressed: null};
function buildMachine(topology) {
  machine.boxes = [];
  machine.loose = make("div", {className: "seats"});
  machine.svg = draw("svg", {"aria-hidden": "true"});
  for (const [index, {parent, ring, cpus}] of topology.entries()) {
    const box = {cpus, seats: make("div", {className: "seats"}), inside: make("div", {className: "inside"})};
    box.name = make("div", {className: "name"}, `${OBJECTS[ring]} ${cpus}`);
    box.root = make("div", {className: ring === 0 ? "box cpu" : "box"}, box.name, box.seats, box.inside);
    if (index > 0) machine.boxes[parent].inside.append(box.root);
    machine.boxes.push(box);
  }
  $("machine").replaceChildren(...(machine.boxes.length ? [machine.boxes[0].root] : []),
    make("div", {className: "box"}, make("div", {className: "name"}, "not placed"), machine.loose), machine.svg);
}
const boxOf = (cpus) => machine.boxes.findLast((box) => box.cpus === cpus);  // the smallest is said last

function showMachine(status) {
  const built = JSON.stringify(status.topology);
  if (built !== machine.built) { buildMachine(status.topology); machine.built = built; }
  const names = status.listeners.map((each) => each.name);
  keep($("chosen"), names, (name) => name, (name) => ({root: make("option", {value: name}, name)}), () => {});
  const listener = status.listeners.find((each) => each.name === $("chosen").value);
  const deck = listener?.deck ?? [];
  const placed = new Map();
  for (const worker of listener?.workers ?? []) {
    const box = worker.cpus ? boxOf(worker.cpus) : undefined;
    const seats = box ? box.seats : machine.loose;
    if (!placed.has(seats)) placed.set(seats, []);
    placed.get(seats).push(worker);
  }
  machine.seats = new Map();
  for (const seats of [...machine.boxes.map((box) => box.seats), machine.loose]) {
    keep(seats, placed.get(seats) ?? [], idOf, (worker) => ({root: make("span", {className: "seat"}, `${worker.slot}`)}),
      (part, worker) => {
        part.root.title = `slot ${worker.slot}, pid ${worker.pid}, load ${worker.load}, placed: ${worker.placement}`;
        machine.seats.set(worker.slot, part.root);
      });
  }
  machine.loose.parentNode.hidden = !placed.has(machine.loose);
  showReceiving(deck);
  drawFlows(deck);
  const rows = deck.flatMap(({cpu, workers}) => workers.map((stake) => ({cpu, ...stake})));
  keep($("flows"), rows, (row) => `${row.cpu}/${row.slot}`,
    () => { const cells = [0, 1, 2, 3].map(() => make("td")); return {root: make("tr", {}, ...cells), cells}; },
    ({cells}, row) => {
      [row.cpu < 0 ? "not said" : `${row.cpu}`, `${row.slot}`, percent(row.share), RINGS[row.ring]].forEach(
        (text, i) => say(cells[i], text));
    });
}
function showReceiving(deck) {
  machine.receiving = new Map();
  for (const box of machine.boxes) {
    const row = deck.find(({cpu}) => box.root.classList.contains("cpu") && `${cpu}` === box.cpus);
    if (!row) { box.button?.remove(); box.button = null; continue; }
    if (!box.button) {
      box.button = make("button", {type: "button", onclick: () => {
        machine.pressed = machine.pressed === box.cpus ? null : box.cpus;
        if (last) showMachine(last);
      }});
      box.name.after(box.button);
    }
    say(box.button, `receives ${percent(row.workers.reduce((all, each) => all + each.share, 0))}`);
    box.button.setAttribute("aria-pressed", `${machine.pressed === box.cpus}`);
    machine.receiving.set(row.cpu, box.button);
  }
}
function drawFlows(deck) {
  const frame = $("machine").getBoundingClientRect();
  const middle = (element) => {
    const box = element.getBoundingClientRect();
    return [box.x - frame.x + box.width / 2, box.y - frame.y + box.height / 2];
  };
  const flows = deck.flatMap(({cpu, workers}) => workers.map((stake) => ({cpu, ...stake})))
    .filter(({cpu, slot}) => machine.receiving.has(cpu) && machine.seats.has(slot))
    .sort((a, b) => b.share - a.share).slice(0, MOST_LINES);
  const most = flows[0]?.share || 1;
  const [thin, wide] = flows.length > 60 ? [0.5, 1] : [1, 5];
  machine.svg.replaceChildren(...flows.map(({cpu, slot, share, ring}) => {
    const [x1, y1] = middle(machine.receiving.get(cpu)), [x2, y2] = middle(machine.seats.get(slot));
    const bend = Math.max(16, Math.abs(x2 - x1) / 5);
    const is_faint = machine.pressed !== null && machine.pressed !== `${cpu}`;
    return draw("path", {class: `ring${ring}${is_faint ? " faint" : ""}`, "stroke-width": thin + wide * share / most,
      d: `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 + bend} ${x2},${y2}`});
  }));
}

// --- all

function show(status) {
  const restarted = last && (status.pid !== last.pid || status.uptime_seconds < last.uptime_seconds);
  if (restarted) { histories.clear(); last = null; }
  const elapsed = last ? status.uptime_seconds - last.uptime_seconds : 0;
  for (const listener of status.listeners) {
    const before = elapsed > 0 ? last.listeners.find((each) => each.name === listener.name) : undefined;
    remember(listener, before, elapsed);
    if (before) notice(listener, before);
  }
  last = status;
  say($("about"), `${status.ringdeald}, pid ${status.pid}, up ${number(Math.floor(status.uptime_seconds))} s`);
  keep($("listeners"), status.listeners, (each) => each.name, makeListener, showListener);
  showMachine(status);
  keep($("log"), log, (entry) => entry, ({at, text}) => ({
    root: make("li", {}, make("time", {dateTime: at.toISOString()}, at.toTimeString().slice(0, 8)), text)}), () => {});
}

let source = null;
function listen() {
  source = new EventSource("/events");
  const state = (text, is_live) => { say($("connection"), text); $("connection").classList.toggle("live", is_live); };
  source.addEventListener("open", () => state("live", true));
  source.addEventListener("status", (event) => show(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    state("no connection to ringdeald, trying again", false);
    if (source.readyState !== EventSource.CLOSED) return;  // it tries by itself
    setTimeout(listen, 3000);
  });
}
$("chosen").addEventListener("change", () => { if (last) showMachine(last); });
addEventListener("resize", () => { if (last) showMachine(last); });
listen();
})();
