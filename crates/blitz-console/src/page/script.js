"use strict";
(() => {
const STATES = ["computing", "polling", "guest", "blocked", "stuck", "searching", "sleeping"];
const MEANS = {computing: "computes", polling: "polls tasks", guest: "an outside thread computes in its seat", blocked: "waits for others' work",
  stuck: "waits for a lock or a system call", searching: "looks for work", sleeping: "sleeps"};
const STRIP = 240, HISTORY = 1200;
const $ = id => document.getElementById(id);
const make = (tag, className, text) => { const e = document.createElement(tag); if (className) e.className = className; if (text !== undefined) e.textContent = text; return e; };

// ---- numbers for people ----
const short = n => {
  const a = Math.abs(n);
  if (a >= 1e9) return (n / 1e9).toFixed(a < 1e10 ? 1 : 0) + " G";
  if (a >= 1e6) return (n / 1e6).toFixed(a < 1e7 ? 1 : 0) + " M";
  if (a >= 1e4) return (n / 1e3).toFixed(0) + " k";
  if (a >= 1e3) return (n / 1e3).toFixed(1) + " k";
  return a >= 10 || a === Math.trunc(a) ? n.toFixed(0) : n.toFixed(1);
};
const bytes = n => n >= 2 ** 30 ? (n / 2 ** 30).toFixed(1) + " GiB" : n >= 2 ** 20 ? (n / 2 ** 20).toFixed(1) + " MiB" : n >= 1024 ? (n / 1024).toFixed(0) + " KiB" : n + " B";
const time = ms => ms >= 60000 ? (ms / 60000).toFixed(1) + " min" : ms >= 1000 ? (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s" : ms >= 1 ? ms.toFixed(ms < 10 ? 1 : 0) + " ms" : ms > 0 ? (ms * 1000).toFixed(0) + " µs" : "0";
const percent = part => (100 * part).toFixed(0) + " %";

// ---- what has been seen ----
let last = null, before = null, paused = false, missed = [], filter = "", opened = null;
const strips = new Map(), histories = new Map(), rates = new Map();
const remember = (key, values) => {
  let history = histories.get(key);
  if (!history) histories.set(key, history = {frames: [], seen: 0});
  history.seen = last.at;
  history.frames.push(values);
  if (history.frames.length > HISTORY) history.frames.shift();
};
const keyOf = item => item.id || (item.kind || "") + "|" + item.at + "|" + (item.name || "");
const rise = (now, old, field) => old && now[field] >= old[field] ? now[field] - old[field] : 0;

function take(frame) {
  before = last; last = frame;
  const seconds = before ? Math.max((last.at - before.at) / 1000, 0.001) : last.length / 1000;
  const old = name => new Map(((before || {})[name] || []).map(item => [keyOf(item), item]));
  last.seconds = seconds;
  const there = new Set(), keep = (key, shares) => { there.add(key); push(strips, key, shares, STRIP); };
  for (const pool of last.pools) pool.workers.forEach((worker, index) => keep(pool.name + "/" + index, worker.shares));
  for (const runtime of last.runtimes) keep("relief/" + runtime.name, [0, runtime.relief[0], 0, 0, 0, runtime.relief[1], runtime.relief[2]]);
  // A later one of that name is another one.
  for (const key of strips.keys()) if (!there.has(key)) strips.delete(key);
  const spawns = old("spawns");
  for (const spawn of last.spawns) {
    const past = spawns.get(keyOf(spawn));
    spawn.pollRate = rise(spawn, past, "polls") / seconds; spawn.wakeRate = rise(spawn, past, "wakes") / seconds;
    spawn.doneRate = rise(spawn, past, "done") / seconds; spawn.load = rise(spawn, past, "busy") / 1000 / seconds;
    remember("spawn:" + keyOf(spawn), {load: spawn.load, polls: spawn.pollRate, alive: spawn.alive});
  }
  const tasks = old("tasks");
  for (const task of last.tasks) {
    const past = tasks.get(keyOf(task));
    task.pollRate = rise(task, past, "polls") / seconds; task.load = rise(task, past, "busy") / 1000 / seconds; task.idle = Math.max(0, task.age - task.busy);
    remember("task:" + keyOf(task), {load: task.load, polls: task.pollRate});
  }
  const sites = old("sites");
  for (const site of last.sites) {
    const past = sites.get(keyOf(site));
    site.callRate = rise(site, past, "calls") / seconds; site.itemRate = rise(site, past, "items") / seconds; site.load = rise(site, past, "time") / 1000 / seconds;
    site.each = site.calls ? site.time / site.calls : 0; site.alone = site.threads ? site.time * Math.max(site.threads, 0) : 0; site.speedup = site.threads;
    remember("site:" + keyOf(site), {calls: site.callRate, load: site.load, threads: site.threads});
  }
  if (histories.size > 4000) for (const [key, history] of histories) if (last.at - history.seen > 60000) histories.delete(key);
  const total = (frame, list, field) => frame ? frame[list].reduce((sum, item) => sum + item[field], 0) : 0;
  const ofWorkers = (frame, field) => frame ? frame.pools.reduce((sum, pool) => sum + pool.workers.reduce((sum, worker) => sum + worker[field], 0), 0) : 0;
  const note = (name, now, past) => push(rates, name, before ? Math.max(0, now - past) / seconds : 0, STRIP);
  const schedulers = frame => frame ? [...new Map(frame.runtimes.map(r => [r.pool || r.name, r])).values()].reduce((sum, r) => sum + r.polls, 0) : 0;
  note("polls of tasks", schedulers(last), schedulers(before));
  note("tasks spawned", total(last, "runtimes", "spawned"), total(before, "runtimes", "spawned"));
  note("jobs run", ofWorkers(last, "executed"), ofWorkers(before, "executed"));
  note("steals", ofWorkers(last, "stolen"), ofWorkers(before, "stolen"));
  note("wakes", ofWorkers(last, "woken"), ofWorkers(before, "woken"));
  note("vain wakes", ofWorkers(last, "vain"), ofWorkers(before, "vain"));
  note("sleeps", ofWorkers(last, "parked"), ofWorkers(before, "parked"));
  note("forced shares", ofWorkers(last, "forced"), ofWorkers(before, "forced"));
  note("injected", total(last, "pools", "injected"), total(before, "pools", "injected"));
  note("guests", ofWorkers(last, "guests"), ofWorkers(before, "guests"));
  note("timers fired", total(last, "runtimes", "fired"), total(before, "runtimes", "fired"));
}
function push(map, key, value, most) {
  let list = map.get(key);
  if (!list) map.set(key, list = []);
  list.push(value);
  if (list.length > most) list.shift();
}
const latest = name => { const list = rates.get(name) || [0]; return list[list.length - 1]; };

// ---- drawing ----
let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const state of STATES) colours[state] = style.getPropertyValue("--" + state).trim();
}
readColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });

const workerRows = new Map();
function drawWorkers() {
  const wanted = [];
  for (const pool of last.pools) {
    wanted.push({key: "pool:" + pool.name, title: "pool " + pool.name + (pool.extra ? ", " + pool.extra + " extra seats" : "")});
    pool.workers.forEach((worker, index) => wanted.push({key: pool.name + "/" + index, label: "thread " + index, worker}));
    for (const runtime of last.runtimes.filter(r => r.pool === pool.name)) {
      const past = strips.get("relief/" + runtime.name) || [];
      if (past.some(shares => shares[1] > 0 || shares[5] > 0)) { wanted.push({key: "relief/" + runtime.name, label: "relief", relief: true}); break; }
    }
  }
  const box = $("workers");
  const keys = new Set(wanted.map(row => row.key));
  for (const [key, row] of workerRows) if (!keys.has(key)) { row.element.remove(); workerRows.delete(key); }
  wanted.forEach((item, index) => {
    let row = workerRows.get(item.key);
    if (!row) {
      row = {element: make("div", item.title ? "pool-name" : "worker")};
      if (!item.title) {
        row.element.append(make("span", "label", item.label), row.canvas = make("canvas"), row.use = make("span", "use"), row.at = make("span", "at"));
        row.element.dataset.worker = item.key; row.canvas.setAttribute("role", "img");
      }
      workerRows.set(item.key, row);
    }
    if (box.children[index] !== row.element) box.insertBefore(row.element, box.children[index] || null);
    if (item.title) { setText(row.element, item.title); return; }
    const past = strips.get(item.key) || [];
    strip(row.canvas, past);
    const recent = past.slice(-8), sums = STATES.map((_, s) => recent.reduce((sum, shares) => sum + shares[s], 0));
    const all = sums.reduce((a, b) => a + b, 0) || 1, used = (sums[0] + sums[1] + sums[2]) / all;
    setText(row.use, percent(used));
    const words = STATES.map((state, s) => [state, sums[s] / all]).filter(([, part]) => part >= 0.005).map(([state, part]) => state + " " + percent(part)).join(", ");
    row.canvas.title = words; row.canvas.setAttribute("aria-label", item.label + ": " + words);
    const at = item.relief ? "serves tasks while all threads compute" : used > 0.02 || sums[4] > 0 ? item.worker.at : "";
    setText(row.at, at); row.at.title = at;
  });
}
function strip(canvas, past) {
  const ratio = devicePixelRatio || 1, width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const g = canvas.getContext("2d"), step = width / STRIP;
  g.clearRect(0, 0, width, height);
  past.forEach((shares, index) => {
    const all = shares.reduce((a, b) => a + b, 0);
    if (!all) return;
    const x0 = Math.round((STRIP - past.length + index) * step), x1 = Math.round((STRIP - past.length + index + 1) * step);
    let bottom = height;
    STATES.forEach((state, s) => {
      const h = shares[s] / all * height;
      if (h <= 0) return;
      g.fillStyle = colours[state];
      g.fillRect(x0, bottom - h, Math.max(1, x1 - x0), h + 0.5);
      bottom -= h;
    });
  });
}
function sparkPaths(values, most) {
  const top = Math.max(...values, 1e-9), n = Math.max(most || values.length, 2), shift = n - values.length;
  const points = values.map((v, i) => ((shift + i) / (n - 1) * 100).toFixed(2) + "," + (30 - v / top * 28).toFixed(2));
  if (!points.length) return ["", ""];
  const curve = "M" + points.join("L");
  return [curve + "L100,30L" + (shift / (n - 1) * 100).toFixed(2) + ",30Z", curve];
}
const SVG = "http://www.w3.org/2000/svg";
function spark(parent) {
  const svg = document.createElementNS(SVG, "svg"); svg.setAttribute("class", "spark"); svg.setAttribute("viewBox", "0 0 100 32"); svg.setAttribute("preserveAspectRatio", "none");
  const area = document.createElementNS(SVG, "path"), curve = document.createElementNS(SVG, "path");
  area.setAttribute("class", "area"); svg.append(area, curve); parent.append(svg);
  return (values, most) => { const [a, c] = sparkPaths(values, most); area.setAttribute("d", a); curve.setAttribute("d", c); };
}
const rateRows = new Map();
function drawRates() {
  for (const [name, values] of rates) {
    let row = rateRows.get(name);
    if (!row) {
      const element = make("div", "rate", name); row = {value: make("b")}; element.append(row.value); row.draw = spark(element);
      element.dataset.rate = name; $("rates").append(element); rateRows.set(name, row);
    }
    setText(row.value, short(values[values.length - 1])); row.draw(values, STRIP);
  }
}
const setText = (element, text) => { if (element.textContent !== text) element.textContent = text; };

const tiles = new Map();
function tile(name, value) {
  let row = tiles.get(name);
  if (!row) { const element = make("div", "tile"); row = make("b"); element.append(row, make("span", "", name)); element.dataset.tile = name; $("tiles").append(element); tiles.set(name, row); }
  setText(row, value);
}
function drawTiles() {
  const p = last.process;
  tile("of " + p.cpus + " CPUs used", p.cpu.toFixed(2));
  tile("memory", bytes(p.memory));
  tile("threads", short(p.threads));
  if (!last.hooks) return;
  const sum = field => last.runtimes.reduce((sum, r) => sum + r[field], 0);
  tile("tasks alive", short(sum("alive")));
  tile("polls per second", short(latest("polls of tasks")));
  tile("tasks queued", short(sum("queued") + last.pools.reduce((sum, pool) => sum + pool.queued + pool.workers.reduce((s, w) => s + w.tasks, 0), 0)));
  tile("steals per second", short(latest("steals")));
  tile("timers", short(sum("timers")));
  tile("sockets", short(sum("sockets")));
}

// ---- tables ----
function placeCell(cell, item) {
  const text = (item.kind || "") + "|" + (item.name || "") + "|" + item.at;
  if (cell.dataset.text === text) return;
  cell.dataset.text = text; cell.textContent = "";
  if (item.kind) cell.append(make("span", "kind", item.kind));
  if (item.name) cell.append(make("span", "name", item.name));
  cell.append(make("span", "place", item.at));
}
const words = (get, className) => (cell, item) => { setText(cell, get(item)); if (className) cell.className = className(item); };
const TABLES = {
  sites: {list: () => last.sites, prefix: "site:", sort: "time", columns: [
    ["line", placeCell, "at"],
    ["calls", words(s => short(s.calls)), "calls"],
    ["per second", words(s => short(s.callRate)), "callRate", "wide"],
    ["items", words(s => s.items ? short(s.items) : "–"), "items", "wide"],
    ["time", words(s => time(s.time)), "time"],
    ["each", words(s => time(s.each)), "each", "wide"],
    ["longest", words(s => time(s.longest)), "longest", "wide"],
    ["threads", words(s => s.threads ? s.threads.toFixed(1) + " of " + s.most_threads : "–"), "threads"],
    ["alone", words(s => s.threads ? "≈ " + time(s.alone) : "–"), "alone"]]},
  spawns: {list: () => last.spawns, prefix: "spawn:", sort: "busy", columns: [
    ["name and line", placeCell, "at"],
    ["alive", words(s => short(s.alive)), "alive"],
    ["running", words(s => short(s.running)), "running", "wide"],
    ["ready", words(s => short(s.ready)), "ready", "wide"],
    ["idle", words(s => short(s.idle)), "idle", "wide"],
    ["done", words(s => short(s.done)), "done", "wide"],
    ["polls", words(s => short(s.polls)), "polls"],
    ["polls/s", words(s => short(s.pollRate)), "pollRate", "wide"],
    ["wakes", words(s => short(s.wakes)), "wakes", "wide"],
    ["busy", words(s => time(s.busy)), "busy"],
    ["of a CPU", words(s => percent(s.load)), "load"]]},
  polls: {list: () => last.polls, sort: null, columns: [
    ["name and line", placeCell, "at"],
    ["held a worker for", words(p => time(p.time) + (p.goes_on ? " …" : ""), p => p.time >= 50 ? "bad" : ""), "time"],
    ["on", words(p => p.worker), "worker", "wide"],
    ["tasks behind it", words(p => short(p.behind)), "behind"],
    ["seen", words(p => p.goes_on ? "now" : time(last.at - p.seen) + " ago"), "seen", "wide"]]},
  tasks: {list: () => last.tasks, prefix: "task:", sort: "busy", columns: [
    ["name and line", placeCell, "at"],
    ["state", words(t => t.state, t => "state-" + t.state), "state"],
    ["polls", words(t => short(t.polls)), "polls"],
    ["wakes", words(t => short(t.wakes)), "wakes", "wide"],
    ["busy", words(t => time(t.busy)), "busy"],
    ["idle", words(t => time(t.idle)), "idle", "wide"],
    ["seen for", words(t => time(t.age)), "age", "wide"],
    ["runtime", words(t => t.runtime), "runtime", "wide"],
    ["number", words(t => String(t.id)), "id", "wide"]]},
  runtimes: {list: () => last.runtimes, sort: null, columns: [
    ["runtime", words(r => r.name), "name"],
    ["pool", words(r => r.pool || "current thread"), "pool"],
    ["tasks", words(r => short(r.alive)), "alive"],
    ["spawned", words(r => short(r.spawned)), "spawned", "wide"],
    ["queued", words(r => short(r.queued)), "queued", "wide"],
    ["timers", words(r => short(r.timers)), "timers"],
    ["sockets", words(r => short(r.sockets)), "sockets"],
    ["blocking threads", words(r => r.blocking[0] + " (" + r.blocking[1] + " idle)"), "blocking", "wide"],
    ["closures waiting", words(r => short(r.blocking[2])), "blockingQueue", "wide"],
    ["relief thread", words(r => { const all = r.relief[0] + r.relief[1] + r.relief[2]; return all ? percent(r.relief[0] / all) + " busy" : "–"; }), "relief", "wide"]]},
  pools: {list: () => last.pools, sort: null, columns: [
    ["pool", words(p => p.name), "name"],
    ["threads", words(p => short(p.workers.length)), "threads"],
    ["shared queue", words(p => short(p.queued)), "queued"],
    ["own queues", words(p => short(p.workers.reduce((s, w) => s + w.tasks, 0))), "tasks"],
    ["with forks", words(p => short(p.workers.filter(w => w.forks).length)), "forks", "wide"],
    ["extra seats", words(p => short(p.extra)), "extra", "wide"],
    ["memory", words(p => bytes(p.memory)), "memory", "wide"],
    ["waited for a CPU", words(p => p.workers.some(w => w.waited !== undefined) ? percent(p.workers.reduce((s, w) => s + (w.waited || 0), 0) / p.workers.length) : "–"), "waited", "wide"]]},
};
for (const [id, table] of Object.entries(TABLES)) {
  const element = $(id), head = make("thead"), row = make("tr");
  table.rows = new Map(); table.body = make("tbody");
  for (const [title, , field, className] of table.columns) {
    const cell = make("th", className || "", title);
    if (table.sort) cell.addEventListener("click", () => { table.sort = field; table.up = field === "at" || field === "state"; draw(); });
    cell.dataset.field = field; row.append(cell);
  }
  head.append(row); element.append(head, table.body);
}
function drawTable(id) {
  const table = TABLES[id];
  let items = table.list();
  const all = items.length;
  if (filter && id !== "runtimes" && id !== "pools") items = items.filter(item => ((item.kind || "") + " " + (item.name || "") + " " + item.at).toLowerCase().includes(filter));
  if (table.sort) {
    const field = table.sort, sign = table.up ? 1 : -1;
    items = [...items].sort((a, b) => sign * (a[field] < b[field] ? -1 : a[field] > b[field] ? 1 : 0));
    for (const cell of $(id).tHead.rows[0].cells) cell.dataset.field === field ? cell.setAttribute("aria-sort", table.up ? "ascending" : "descending") : cell.removeAttribute("aria-sort");
  }
  const seen = new Set();
  let index = 0;
  for (const item of items) {
    const key = table.prefix ? keyOf(item) : id + index;
    if (seen.has(key)) continue;
    seen.add(key);
    let row = table.rows.get(key);
    if (!row) {
      row = make("tr", table.prefix ? "open" : "");
      for (const [, , , className] of table.columns) row.append(make("td", className || ""));
      row.dataset.key = key;
      if (table.prefix) {
        row.tabIndex = 0;
        row.addEventListener("click", () => open(table, key));
        row.addEventListener("keydown", event => { if (event.key === "Enter") open(table, key); });
      }
      table.rows.set(key, row);
    }
    table.columns.forEach(([, show, , className], column) => {
      const cell = row.cells[column];
      show(cell, item);
      if (className && !cell.classList.contains(className)) cell.classList.add(className);
    });
    if (table.body.children[index] !== row) table.body.insertBefore(row, table.body.children[index] || null);
    index += 1;
  }
  for (const [key, row] of table.rows) if (!seen.has(key)) { row.remove(); table.rows.delete(key); }
  $(id).hidden = index === 0;
  const none = $(id + "-none");
  if (none) { none.hidden = index > 0; if (!none.dataset.text) none.dataset.text = none.textContent; setText(none, all && filter ? "None matches the filter." : none.dataset.text); }
}

// ---- one of them ----
function open(table, key) { opened = {table, key}; drawDetail(true); const box = $("detail"); if (!box.open) box.showModal(); }
$("detail").addEventListener("close", () => { opened = null; });
$("detail").addEventListener("click", event => { if (event.target === $("detail")) $("detail").close(); });
const CHARTS = {
  "site:": [["calls per second", f => f.calls, short], ["of its time running", f => f.load, percent], ["threads at a time", f => f.threads, n => n.toFixed(1)]],
  "spawn:": [["of a CPU", f => f.load, percent], ["polls per second", f => f.polls, short], ["alive", f => f.alive, short]],
  "task:": [["of a CPU", f => f.load, percent], ["polls per second", f => f.polls, short]],
};
function facts(item, prefix) {
  if (prefix === "site:") return [["calls", short(item.calls)], ["items", item.items ? short(item.items) : "–"], ["time, all calls", time(item.time)], ["each", time(item.each)], ["longest", time(item.longest)],
    ["threads that took part", item.threads ? item.threads.toFixed(2) + " on average, " + item.most_threads + " at most" : "not seen by a sample yet"],
    ["on one thread it would have taken", item.threads ? "≈ " + time(item.alone) : "–"]];
  if (prefix === "spawn:") return [["alive", short(item.alive)], ["running, ready, idle", item.running + ", " + item.ready + ", " + item.idle], ["through", short(item.done)], ["polls", short(item.polls)], ["wakes", short(item.wakes)],
    ["busy", time(item.busy)], ["longest poll", item.longest ? time(item.longest) : "below 10 ms"]];
  return [["state", item.state], ["polls", short(item.polls)], ["wakes", short(item.wakes)], ["busy", time(item.busy)], ["idle", time(item.idle)], ["seen for", time(item.age)], ["runtime", item.runtime]];
}
function drawDetail(fresh) {
  if (!opened) return;
  const {table, key} = opened, item = table.list().find(item => keyOf(item) === key), charts = CHARTS[table.prefix];
  if (fresh) {
    $("detail-charts").textContent = "";
    opened.charts = charts.map(([title]) => { const box = make("div", "rate", title), value = make("b"); box.append(value); const draw = spark(box); $("detail-charts").append(box); return {value, draw}; });
  }
  const history = (histories.get(table.prefix + key) || {frames: []}).frames;
  charts.forEach(([, get, show], index) => { const values = history.map(get); opened.charts[index].draw(values); setText(opened.charts[index].value, values.length ? show(values[values.length - 1]) : ""); });
  if (item) {
    setText($("detail-title"), item.name || item.kind || item.at); setText($("detail-at"), item.at);
    const list = $("detail-list"); list.textContent = "";
    for (const [name, value] of facts(item, table.prefix)) list.append(make("dt", "", name), make("dd", "", value));
  } else if (!$("detail-at").textContent.endsWith("(gone)")) $("detail-at").textContent += " (gone)";
}

function drawWarnings() {
  const box = $("warnings"), text = JSON.stringify(last.warnings);
  if (box.dataset.text === text) return;
  box.dataset.text = text; box.textContent = "";
  for (const warning of last.warnings) {
    const line = make("p", "warning", warning.text + " "); line.dataset.kind = warning.kind;
    if (warning.at) line.append(make("code", "", warning.at));
    box.append(line);
  }
}
function draw() {
  if (!last) return;
  setText($("program"), last.process.name); document.title = last.process.name + " – Blitz console";
  $("no-hooks").hidden = last.hooks; for (const card of document.querySelectorAll(".card")) card.hidden = !last.hooks;
  drawTiles();
  if (last.hooks) {
    drawWarnings(); drawWorkers(); drawRates();
    for (const id of Object.keys(TABLES)) drawTable(id);
    const alive = last.runtimes.reduce((sum, r) => sum + r.alive, 0);
    setText($("tasks-note"), last.tasks.length < alive ? "the " + last.tasks.length + " busiest of " + short(alive) : "all of them");
    const cut = (shown, all) => shown < all ? "the first " + shown + " of " + short(all) + " lines; " : "";
    setText($("sites-note"), cut(last.sites.length, last.site_lines) + "by the line that called them, while somebody looked");
    setText($("spawns-note"), cut(last.spawns.length, last.spawn_lines) + (last.looked_at < alive * 0.95 ? "of " + short(last.looked_at) + " of " + short(alive) + " tasks: there are too many to count all" : "busy from samples"));
    drawDetail(false);
  }
  setText($("own"), "Process " + last.process.pid + "; this page costs it " + (100 * last.process.own_cpu).toFixed(1) + " % of a CPU.");
}

// ---- the connection ----
for (const state of STATES) { const item = make("span"), dot = make("i"); dot.style.background = "var(--" + state + ")"; item.append(dot, state); item.title = MEANS[state]; $("legend").append(item); }
$("filter").addEventListener("input", event => { filter = event.target.value.trim().toLowerCase(); draw(); });
$("pause").addEventListener("click", () => {
  paused = !paused; $("pause").setAttribute("aria-pressed", paused); setText($("pause"), paused ? "Go on" : "Pause");
  if (!paused) { missed.forEach(take); missed = []; draw(); }
  status();
});
let connected = false, heard = Date.now();
// A program that stands still closes no connection.
const SILENT = 2000;
function status() {
  const element = $("status"), silent = Date.now() - heard;
  const stands = connected && silent > SILENT;
  setText(element, paused ? "paused" : stands ? "no news for " + Math.round(silent / 1000) + " s" : connected ? "live" : last ? "the program is gone" : "connecting …");
  element.className = paused ? "" : stands ? "gone" : connected ? "live" : last ? "gone" : "";
}
setInterval(status, 500);
$("metrics-link").href = "/metrics" + location.search;
const source = new EventSource("/events" + location.search);
source.onopen = () => { connected = true; heard = Date.now(); if (!paused) before = last = null; status(); };
source.onerror = () => { connected = false; status(); };
source.onmessage = event => {
  connected = true; heard = Date.now();
  // Names may say in which direction the rest of their line is to be written.
  const frame = JSON.parse(event.data.replace(/[\u202a-\u202e\u2066-\u2069]/g, "?"));
  // What is on the page stays; what comes meanwhile is looked at afterwards.
  if (paused) { missed.push(frame); if (missed.length > STRIP) missed.shift(); status(); return; }
  take(frame); status();
  if (!document.hidden) requestAnimationFrame(draw);
};
addEventListener("resize", () => { if (!paused) draw(); });
})();
