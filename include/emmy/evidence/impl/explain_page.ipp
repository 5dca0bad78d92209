#pragma once
#include <emmy/evidence/explain.hpp>

namespace emmy::evidence {
namespace detail {

// Written by hand; no library, no font, no image. The policy in its head forbids every request.
inline constexpr std::string_view page_before = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Which evidence decided</title>
<style>
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1d1f23; --soft: #6b6f76; --line: #dcd9d1; --card: #fff; --pick: #fff6d8;
  --own: #23804a; --other: #2467b3; --near: #b0740a; --prior: #7a45b8; --first: #c0392b; --still: #7d8188; }
@media (prefers-color-scheme: dark) { :root { --paper: #17181b; --ink: #e7e6e3; --soft: #9a9da3; --line: #34363b; --card: #1f2125; --pick: #3a3420;
  --own: #53b27b; --other: #64a3e6; --near: #dba23c; --prior: #b08be6; --first: #ea7567; --still: #9a9da3; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
code, .mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12.5px; }
header { padding: 18px 24px 14px; border-bottom: 1px solid var(--line); }
h1 { font-size: 19px; font-weight: 650; margin: 0 0 2px; overflow-wrap: anywhere; }
.facts { color: var(--soft); }
.facts b { color: var(--ink); font-weight: 600; }
#whole { display: flex; height: 22px; margin: 14px 0 10px; border-radius: 4px; overflow: hidden; background: var(--line); gap: 1px; }
#whole button { border: 0; padding: 0; min-width: 2px; cursor: pointer; background: var(--tier); opacity: .85; }
#whole button:hover, #whole button:focus-visible { opacity: 1; outline: 2px solid var(--ink); outline-offset: -2px; }
#tiers { display: flex; flex-wrap: wrap; gap: 6px; }
#tiers button, .fork { font: inherit; font-size: 12.5px; border: 1px solid var(--line); border-radius: 11px; background: var(--card); color: var(--ink);
  padding: 1px 9px 1px 7px; cursor: pointer; white-space: nowrap; max-width: 100%; overflow: hidden; text-overflow: ellipsis; }
#tiers button::before, .fork::before { content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 50%; background: var(--tier); margin-right: 6px; }
#tiers button[aria-pressed=true] { background: var(--pick); border-color: var(--tier); }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(330px, 420px); gap: 0; }
#tree { padding: 12px 12px 40px 24px; min-width: 0; }
#tree ul { list-style: none; margin: 0; padding: 0 0 0 20px; border-left: 1px solid var(--line); margin-left: 6px; }
#tree > ul { padding: 0; border: 0; margin: 0; }
.kernel { display: grid; grid-template-columns: minmax(0, 1fr) 34%; gap: 2px 12px; padding: 6px 8px; border-radius: 6px; align-items: center; }
.kernel:hover { background: color-mix(in srgb, var(--line) 35%, transparent); }
.kernel.chosen { background: var(--pick); }
.name { overflow-wrap: anywhere; }
.name .sizes { color: var(--soft); font-size: 12px; margin-left: 6px; }
.forks { grid-column: 1; display: flex; flex-wrap: wrap; gap: 4px; min-width: 0; }
.fork[aria-pressed=true] { background: var(--tier); color: var(--paper); border-color: var(--tier); }
.fork[aria-pressed=true]::before { background: var(--paper); }
.bar, .sum { grid-column: 2; grid-row: 1 / span 2; display: flex; align-items: center; gap: 8px; min-width: 0; }
.bar i { display: block; height: 12px; min-width: 2px; border-radius: 2px; background: var(--tier); flex: none; }
.bar.none i { width: 36px; background: repeating-linear-gradient(45deg, var(--first) 0 3px, transparent 3px 7px); opacity: .7; }
.bar span, .sum span { color: var(--soft); font-variant-numeric: tabular-nums; white-space: nowrap; font-size: 12.5px; }
.faded { opacity: .32; }
aside { border-left: 1px solid var(--line); padding: 16px 20px 40px; }
#why { position: sticky; top: 12px; max-height: calc(100vh - 24px); overflow: auto; }
#why h2 { font-size: 15px; margin: 0 0 2px; overflow-wrap: anywhere; }
#why .tier { display: inline-block; color: var(--tier); font-weight: 650; margin-bottom: 8px; }
dl { display: grid; grid-template-columns: 92px minmax(0, 1fr); gap: 4px 10px; margin: 6px 0 12px; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
#why h3 { font-size: 12px; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); margin: 14px 0 4px; font-weight: 600; }
.race { display: grid; grid-template-columns: 74px minmax(0, 1fr) auto; gap: 3px 8px; align-items: center; font-size: 12.5px; }
.race i { display: block; height: 11px; border-radius: 2px; background: var(--tier); }
.race .next { background: var(--still); }
.note { border-left: 3px solid var(--near); padding: 2px 0 2px 9px; margin: 5px 0; overflow-wrap: anywhere; }
.hint { color: var(--soft); }
#notes { padding: 0 24px 24px; }
@media (max-width: 860px) { main { grid-template-columns: 1fr; } aside { border-left: 0; border-top: 1px solid var(--line); } .kernel { grid-template-columns: 1fr; } .bar, .sum { grid-column: 1; grid-row: auto; } }
</style>
</head>
<body>
<header><h1 id="title"></h1><div class="facts" id="facts"></div><div id="whole" role="group" aria-label="time of each kernel that runs"></div><div id="tiers" role="group" aria-label="forks by what decided them"></div></header>
<main><section id="tree" aria-label="kernel set"></section><aside aria-label="what decided"><div id="why" aria-live="polite"></div></aside></main>
<section id="notes"></section>
<noscript>This page draws its report with a script of its own; the report itself stands below it in the file, as JSON.</noscript>
<script type="application/json" id="report">)page";

inline constexpr std::string_view page_after = R"page(</script>
<script>
"use strict";
const report = JSON.parse(document.getElementById("report").textContent);
const colour = t => "var(--" + (t.startsWith("own row of the nearest") || t.includes("nearest size") ? "near" : t.startsWith("own") ? "own" : t.startsWith("other") ? "other" : t === "prior" ? "prior" : t === "first option" ? "first" : "still") + ")";
const at = id => document.getElementById(id);
const make = (tag, cls, text) => { const e = document.createElement(tag); if (cls) e.className = cls; if (text !== undefined) e.textContent = text; return e; };
const us = t => (t >= 1000 ? Math.round(t).toLocaleString("en") : t >= 100 ? t.toFixed(1) : t >= 10 ? t.toFixed(2) : t.toFixed(3)) + " \u00b5s";
const off = v => v === "" || v === "0" || v === "false";
const knobs = k => Object.entries(k || {}).filter(([, v]) => !off(v)).map(([n, v]) => n + "=" + v).join(" ");
const choice = f => f.fork === "schedule" ? knobs(f.knobs) || "all off" : knobs(f.knobs) || "whole";
const sizes = b => Object.entries(b || {}).map(([n, v]) => n + "=" + v).join(", ");
const percent = m => (m >= 0 ? "+" : "") + (m * 100).toFixed(1) + "%";
const kernels = report.kernels, runs = kernels.filter(k => k.runs);
const schedule = k => k.forks.find(f => f.fork === "schedule");
const timeOf = k => { const s = schedule(k); return s && s.by ? s.by.us : s && s.prior ? s.prior.predicted_us : null; };
const rootOf = k => k.parent === null ? k : rootOf(kernels[k.parent]);
const most = {}, whole = {};  // per target: the longest kernel, and the sum (null: one is not measured)
for (const k of runs) {
  const r = rootOf(k).id, t = timeOf(k);
  most[r] = Math.max(most[r] || 1e-9, t || 0);
}
const sum = k => k.runs ? timeOf(k) : k.children.map(c => sum(kernels[c])).reduce((a, b) => a === null || b === null ? null : a + b, 0);
const brief = f => {  // what stands on a button
  const keys = Object.keys(f.knobs || {}).filter(n => !off(f.knobs[n]));
  if (f.fork === "schedule") return choice(f);
  if (!keys.length) return f.fork + " whole";
  const value = f.knobs[keys[0]];
  return f.fork + " " + value + (keys.length > 1 ? " " + keys.length + " at once" : keys[0].includes("@") ? " " + keys[0].split("@")[1] : "");
};
const where = {};  // fork id -> [fork, kernel]

at("title").textContent = report.program || (kernels.length ? kernels[0].name : "nothing");
document.title = at("title").textContent + " \u2013 which evidence decided";
const facts = [["", report.target], ["lane", report.lane], ["own producer", report.producer], ["kernels run", runs.length], ["forks", kernels.reduce((n, k) => n + k.forks.length, 0)]];
if (report.expected_us.own !== null) facts.push(["expected by own rows", us(report.expected_us.own)]);
if (report.expected_us.other !== null) facts.push(["expected by other producers\u2019 rows", us(report.expected_us.other)]);
if (report.attempts > 1) facts.push(["attempts", report.attempts]);
facts.forEach(([what, value], i) => { if (i) at("facts").append(" \u00b7 "); if (what) at("facts").append(what + " "); at("facts").append(make("b", "", String(value))); });

const counts = {};
for (const k of kernels) for (const f of k.forks) counts[f.tier] = (counts[f.tier] || 0) + 1;
let only = null;
const filter = () => {
  for (const b of document.querySelectorAll(".fork")) b.classList.toggle("faded", only !== null && where[b.dataset.fork][0].tier !== only);
  for (const b of at("tiers").children) b.setAttribute("aria-pressed", b.dataset.tier === only);
};
for (const [tier, n] of Object.entries(counts).sort((a, b) => b[1] - a[1])) {
  const b = make("button", "", tier + " " + n);
  b.dataset.tier = tier;
  b.style.setProperty("--tier", colour(tier));
  b.onclick = () => { only = only === tier ? null : tier; filter(); };
  at("tiers").append(b);
}

const race = (list) => {
  const box = make("div", "race"), top = Math.max(1e-9, ...list.map(r => r[1]));
  for (const [what, t, cls, right] of list) {
    const i = make("i", cls);
    i.style.width = Math.max(1, 100 * t / top) + "%";
    box.append(make("span", "", what), i, make("span", "", us(t) + (right ? " " + right : "")));
  }
  return box;
};
const measured = (list, r) => { list.push(["row", knobs(r.knobs) || "all off"], ["source", r.source], ["producer", r.producer], ["time", us(r.us) + (r.captured ? "" : ", wall time with launch cost")]); if (sizes(r.bindings)) list.push(["measured at", sizes(r.bindings)]); };
const show = id => {
  const [f, k] = where[id];
  for (const b of document.querySelectorAll(".fork")) b.setAttribute("aria-pressed", b.dataset.fork === id);
  for (const e of document.querySelectorAll(".kernel")) e.classList.toggle("chosen", e.dataset.kernel === String(k.id));
  const why = at("why");
  why.textContent = "";
  why.style.setProperty("--tier", colour(f.tier));
  why.append(make("h2", "mono", f.kernel), make("div", "tier", f.fork + ": " + f.tier));
  const list = [["chosen", choice(f)]];
  if (f.by) measured(list, f.by);
  if (f.by_pieces) list.push(["time", us(f.by_pieces.us) + (f.by_pieces.stored ? "" : ", no route is stored: its pieces were looked up")]);
  if (f.prior) list.push(["predicted", us(f.prior.predicted_us) + " by " + f.prior.stamp]);
  if (sizes(f.bindings)) list.push(["sizes", sizes(f.bindings)]);
  list.push(["rows", f.rows_seen + " in scope, " + f.rows_tried + " tried"]);
  if (f.options !== undefined) list.push(["options", String(f.options)]);
  list.push(["identity", f.identity]);
  if (k.refused && f.fork === "schedule") list.push(["refused", k.refused]);
  const dl = make("dl");
  for (const [what, text] of list) { const dd = make("dd", ["row", "chosen", "identity", "source", "producer"].includes(what) ? "mono" : "", text); dl.append(make("dt", "", what), dd); }
  why.append(dl);
  const best = f.by ? f.by.us : f.by_pieces ? f.by_pieces.us : null, next = f.runner_up || f.runner_up_pieces;
  if (best !== null && next) {
    why.append(make("h3", "", "Runner-up"), race([["this", best, ""], ["next", next.us, "next", percent(f.margin)]]));
    why.append(make("div", "mono", knobs(next.knobs || next.arm) || (next.arm ? "whole" : "all off")));
    if (next.source) why.append(make("div", "hint", next.source));
  }
  if (f.by_pieces && f.by_pieces.pieces.length) {
    why.append(make("h3", "", "Measured pieces"));
    why.append(race(f.by_pieces.pieces.map((p, i) => ["piece " + (i + 1), p.us, ""])));
  }
  if (f.notes.length) why.append(make("h3", "", "What was missing, what to know"));
  for (const n of f.notes) why.append(make("div", "note", n));
};
const draw = (k, list) => {
  const li = make("li"), row = make("div", "kernel"), name = make("div", "name mono", k.name);
  row.dataset.kernel = k.id;
  if (sizes(k.bindings)) name.append(make("span", "sizes", sizes(k.bindings)));
  row.append(name);
  if (k.runs) {
    const s = schedule(k), t = timeOf(k), bar = make("div", t === null ? "bar none" : "bar"), i = make("i");
    bar.style.setProperty("--tier", colour(s ? s.tier : "first option"));
    if (t !== null) i.style.width = Math.max(1, 62 * t / most[rootOf(k).id]) + "%";
    bar.append(i, make("span", "", t === null ? (k.refused ? "does not run here" : "not measured") : us(t) + (s.by ? "" : " predicted")));
    row.append(bar);
  } else {
    const t = sum(k), bar = make("div", "sum");
    bar.append(make("span", "", (t === null ? "not all measured" : us(t)) + " in " + k.children.length + (k.children.length === 1 ? " kernel" : " pieces")));
    row.append(bar);
  }
  const forks = make("div", "forks");
  for (const f of k.forks) {
    where[f.id] = [f, k];
    const b = make("button", "fork mono", brief(f));
    b.dataset.fork = f.id;
    b.title = f.tier + ": " + choice(f);
    b.style.setProperty("--tier", colour(f.tier));
    b.onclick = () => show(f.id);
    forks.append(b);
  }
  row.append(forks);
  li.append(row);
  if (k.children.length) { const ul = make("ul"); for (const c of k.children) draw(kernels[c], ul); li.append(ul); }
  list.append(li);
};
const roots = make("ul");
for (const k of kernels) if (k.parent === null) draw(k, roots);
at("tree").append(roots);
for (const k of runs) {
  const s = schedule(k), t = timeOf(k);
  if (t === null || !s) continue;
  const b = make("button");
  b.style.flexGrow = t;
  b.style.setProperty("--tier", colour(s.tier));
  b.title = k.name + "  " + us(t);
  b.setAttribute("aria-label", b.title);
  b.onclick = () => { show(s.id); document.querySelector('[data-kernel="' + k.id + '"]').scrollIntoView({block: "center"}); };
  at("whole").append(b);
}
if (!at("whole").children.length) at("whole").remove();
for (const n of report.unmeasured) at("notes").append(make("div", "note", n));
for (const n of report.notes) at("notes").append(make("div", "note", n));
const first = kernels.flatMap(k => k.forks).find(f => f.tier === "first option") || kernels.flatMap(k => k.forks)[0];
if (first) show(first.id); else at("why").append(make("p", "hint", "No fork had a choice."));
</script>
</body>
</html>
)page";

}  // namespace detail

EMMY_DECL std::string explain_page(const explained& e) {
    std::string out(detail::page_before);
    for (const char c : explain_json(e)) {
        if (c == '<') out += "\\u003c";  // nothing in a name ends the script
        else out += c;
    }
    out += detail::page_after;
    return out;
}

}  // namespace emmy::evidence
