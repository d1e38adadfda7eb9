// The slot-versus-position theatre: a plain ES module, no imports. All that it shows comes from
// traces that Python recorded (trace_data.py says what is in one); nothing is ever asked back.

const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#882255", "#8B6D3F"];
const DIGITS = ["#fff", "#111", "#111", "#111", "#111", "#111", "#fff", "#fff"]; // contrast 4.5 and more
const WRONG = "#D55E00", TEXT = "var(--jp-ui-font-color1,#222)", DIM = "var(--jp-ui-font-color2,#666)";
const LINE = "var(--jp-border-color1,#bbb)", SOFT = "var(--jp-layout-color2,#eee)", PAPER = "var(--jp-layout-color0,#fff)";
const SHOWN = 32; // positions on the axis, and slots in the row, at most
const TURN = 20; // degrees by which one position turns the pair that the clocks show
const WIDE = 620, LEFT = 104; // of the lanes: their width, and where they begin

// Words: every text has a name in words.json; {x} in it is filled in here.
const escaped = s => String(s).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
const fill = (text, given = {}) => text.replace(/{(\w+)}/g, (_, name) => given[name] ?? "");

// Traces: of each step only what changed is stored; `at(t)` gives what holds after t steps.
function stage(trace) {
  const { steps } = trace;
  const words = steps.some(s => !/^[\d ]*$/.test(s.text)) ? steps.flatMap(s => s.text.split(" ")) : [];
  const put = step => (step?.held ?? step?.set ?? []).filter(([, p]) => p >= 0 || !trace.page).map(([k]) => k); // a page given back is not written
  return { ...trace, length: steps.length, tokens: (steps.at(-1)?.p ?? -1) + 1, words, at(t) {
    const slots = [], held = [];
    let wrote = [], before = [];
    for (let i = 0; i < t; i++) {
      const step = steps[i];
      if (i === t - 1) before = held.slice();
      if (step.slots !== undefined) for (const row of [slots, held]) { row.length = Math.min(row.length, step.slots); while (row.length < step.slots) row.push(-1); }
      for (const [k, p] of step.set) slots[k] = p;
      for (const [k, p] of step.held ?? step.set) held[k] = p;
      if (i === t - 1) wrote = put(step);
    }
    if (!t) for (let k = 0; k < (steps[0]?.slots ?? 0) && trace.window; k++) { slots.push(-1); held.push(-1); }
    const step = steps[t - 1] ?? { p: -1, set: [] };
    const over = wrote.length === 1 ? before[wrote[0]] : undefined;
    const coming = put(steps[t]), next = coming.length === 1 ? coming[0] : -1;
    return { t, step, p: step.p, from: (steps[t - 2]?.p ?? -1) + 1, slots, held, before, wrote, over, next, wrong: step.wrong ?? [], sums: step.sum ?? [],
      seen: step.seen && new Set(step.seen.flatMap(([a, b]) => Array.from({ length: b - a + 1 }, (_, i) => a + i))) };
  } };
}

// What follows from a state and from where angles are taken: distances, as they are and as they look.
function derived(state, angle) {
  const { held, slots, p } = state, here = held.lastIndexOf(p);
  const ranks = held.filter(x => x >= 0).sort((a, b) => a - b);
  const used = k => angle === "slot" ? k : angle === "rank" ? ranks.indexOf(held[k]) : slots[k];
  const live = held.map((x, k) => [k, x]).filter(([, x]) => x >= 0);
  const own = here < 0 ? p : used(here);
  const keys = new Map(live.map(([k, x]) => [k, { k, p: x, angle: used(k), back: p - x, looks: own - used(k),
    wrong: angle !== "rank" && slots[k] >= 0 && own - used(k) !== p - x, seen: state.seen ? state.seen.has(x) : slots[k] >= 0 }]));
  return { live, here, keys, bad: [...keys.values()].filter(key => key.wrong) };
}

// Sentences.
function looks(W, n) { return fill(n < 0 ? W.like_ahead : W.like_back, { n: Math.abs(n) }); }

function mistake(W, state, one) {
  const d = state.p - one.position, like = looks(W, state.p - one.says);
  return fill(W["w_" + one.kind], { k: one.slot, p: one.position, s: one.says, d, like });
}

function sentence(W, show, state, angle) {
  const { p, wrote, over, step } = state;
  const stopped = show.problem && state.t === show.length ? ` <span class="bad">${escaped(fill(W.w_stopped, { t: show.problem }))}</span>` : "";
  if (!state.t) return escaped(W.start) + stopped;
  const text = /^[\d ]*$/.test(step.text) ? "" : fill(W.text, { t: step.text }), chunk = state.from < p;
  const grown = step.slots !== undefined && state.t > 1;
  const name = !wrote.length ? "nowhere" : chunk ? "chunk" : wrote.length > 1 ? "moved" : "written";
  const end = name !== "written" ? "plain" : grown ? "new_slot" : over < 0 || over === undefined ? "was_free" : state.sums.length ? "over_summary" : "over";
  const said = [escaped(fill(W[name], { p, q: state.from, k: wrote[0], n: wrote.length, text }) + fill(W[end], { q: over }))];
  const bad = text => said.push(`<span class="bad">${escaped(text)}</span>`), holds = (row, k) => row.some((x, slot) => x >= 0 && Math.floor(slot / show.page) === k);
  for (let k = 0; show.page && k * show.page < state.held.length; k++) if (holds(state.before, k) && !holds(state.held, k)) said.push(escaped(fill(W.page_back, { k })));
  if (angle === "rank") said.push(escaped(W.rank_note));
  if (angle === "slot") {
    const view = derived(state, angle), [key] = [...view.bad].sort((a, b) => a.looks - b.looks);
    if (key) bad(fill(W.bug, { n: view.bad.length, all: view.live.length, p: key.p, k: key.k, d: key.back, like: looks(W, key.looks) }));
    else said.push(escaped(state.held.some((x, k) => x >= 0 && x !== k) ? W.lucky : W.no_wrap));
  }
  const kinds = new Map();
  for (const one of state.wrong) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), one]);
  for (const alike of kinds.values()) bad(mistake(W, state, alike[0]) + (alike.length > 1 ? ` (${fill(W.more, { n: alike.length - 1 })})` : ""));
  const first = show.steps.findIndex(s => s.wrong);
  if (kinds.size && first < state.t - 1) said.push(escaped(fill(W.since, { p: show.steps[first].p })));
  return said.join(" ") + stopped;
}

// Drawing: small functions that give SVG.
const r1 = x => Math.round(x * 10) / 10;
const word = (x, y, s, o = {}) => `<text x="${r1(x)}" y="${r1(y)}" text-anchor="${o.at ?? "middle"}" font-size="${o.size ?? 12}" fill="${o.ink ?? TEXT}"${o.bold ? ' font-weight="650"' : ""}${o.halo ? ` paint-order="stroke" stroke="${o.halo}" stroke-width="3.5" stroke-linejoin="round"` : ""}>${escaped(s)}</text>`;
const box = (x, y, w, h, o = {}) => `<rect ${o.hot ? 'class="hot" ' : ""}x="${r1(x)}" y="${r1(y)}" width="${r1(Math.max(w, 1))}" height="${h}" rx="${o.round ?? 3}" fill="${o.fill ?? "none"}" stroke="${o.stroke ?? LINE}" stroke-width="${o.width ?? 1}"${o.dash ? ` stroke-dasharray="${o.dash}"` : ""}/>`;
const ink = k => k < 8 ? DIGITS[k] : "#111", halo = k => k < 8 ? undefined : "#fff";
const paint = (k, id) => k < 8 ? COLOURS[k] : `url(#${id}s${k % 8})`;
const short = (s, n) => s.length > n ? s.slice(0, n - 1) + "…" : s;

function patterns(id) {
  const slanted = (name, size, inner) => `<pattern id="${id}${name}" width="${size}" height="${size}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">${inner}</pattern>`;
  return `<defs>${slanted("left", 6, `<rect width="6" height="6" fill="${SOFT}"/><path d="M0,0V6" stroke="${LINE}" stroke-width="2"/>`)}${COLOURS.map((c, i) => slanted("s" + i, 8, `<rect width="8" height="8" fill="#fff"/><rect width="4.4" height="8" fill="${c}"/>`)).join("")}</defs>`;
}

function ring(W, show, state, view, o) {
  const n = state.slots.length, cx = 129, cy = 126, from = 64, to = 102, out = [];
  const at = (q, a) => `${r1(cx + q * Math.cos(a))},${r1(cy + q * Math.sin(a))}`;
  const angleOf = k => 2 * Math.PI * k / n - Math.PI / 2, gap = n > 1 ? .012 : 0;
  for (let k = 0; n <= SHOWN && k < n; k++) {
    const a = angleOf(k) + gap, b = angleOf(k + 1) - gap, mid = (a + b) / 2, big = b - a > Math.PI ? 1 : 0, p = state.held[k], hot = state.wrote.includes(k);
    const path = n === 1 ? `M${cx},${cy - to}A${to},${to} 0 1 1 ${cx - .1},${cy - to}L${cx - .1},${cy - from}A${from},${from} 0 1 0 ${cx},${cy - from}Z`
      : `M${at(to, a)}A${to},${to} 0 ${big} 1 ${at(to, b)}L${at(from, b)}A${from},${from} 0 ${big} 0 ${at(from, a)}Z`;
    out.push(`<g data-k="${k}"${o.dim(p)}><path class="${hot ? "hot" : ""}" d="${path}" fill="${p < 0 ? PAPER : paint(k, o.id)}" stroke="${hot ? TEXT : o.picked.has(k) ? WRONG : LINE}" stroke-width="${hot || o.picked.has(k) ? 3 : 1}"${p < 0 ? ' stroke-dasharray="3 3"' : ""}/>`,
      p < 0 ? "" : word(cx + 83 * Math.cos(mid), cy + 83 * Math.sin(mid) + 5, p, { size: n > 16 ? 10 : 15, bold: 1, ink: ink(k), halo: halo(k) }),
      word(cx + 115 * Math.cos(mid), cy + 115 * Math.sin(mid) + 4, k, { size: 11, ink: DIM }), "</g>");
  }
  if (n > SHOWN) out.push(`<circle cx="${cx}" cy="${cy}" r="83" fill="none" stroke="${LINE}" stroke-width="38"/>`, word(cx, cy + 5, n, { size: 20, bold: 1 }));
  else if (state.next >= 0 && state.next < n && !o.asks) { const a = angleOf(state.next + .5), x = cx + 59 * Math.cos(a), y = cy + 59 * Math.sin(a);
    out.push(`<path d="M${r1(cx + 34 * Math.cos(a))},${r1(cy + 34 * Math.sin(a))}L${r1(x)},${r1(y)}" stroke="${TEXT}" stroke-width="3"/><path transform="translate(${r1(x)} ${r1(y)}) rotate(${r1(a * 180 / Math.PI)})" d="M4,0L-7,-6V6Z" fill="${TEXT}"/>`);
    out.push(word(cx, cy - 3, W.next_write, { size: 11, ink: DIM }), word(cx, cy + 13, fill(W.slotn, { k: state.next }), { size: 14, bold: 1 })); }
  else out.push(word(cx, cy + 5, show.window ? `${W.window} ${show.window}` : W.everything, { size: 14, bold: 1 }));
  const keys = [["key_written", { fill: SOFT, stroke: TEXT, width: 3 }], ["key_empty", { dash: "3 3" }], ["key_left", { fill: `url(#${o.id}left)` }], ["key_wrong", { stroke: WRONG, width: 2.4 }]];
  keys.forEach(([name, look], i) => { const x = i % 2 ? 140 : 12, y = 262 + 22 * (i >> 1); out.push(box(x, y, 18, 14, look), word(x + 25, y + 11, W[name], { at: "start", ink: DIM })); });
  return `<svg viewBox="0 0 258 306" aria-hidden="true">${out.join("")}</svg>`;
}

// The positions that the axis has room for: the sinks, and the last ones.
function columns(show, p) {
  const n = show.tokens, sinks = Math.min(show.sinks, 4);
  if (n <= SHOWN) return { shown: Array.from({ length: n }, (_, i) => i), cut: -1 };
  const start = Math.max(0, Math.min(p - SHOWN + sinks + 4, n - SHOWN + sinks));
  const tail = Array.from({ length: SHOWN - (start ? sinks : 0) }, (_, i) => start + i).filter(x => x < n);
  return { shown: start ? [...Array.from({ length: sinks }, (_, i) => i), ...tail] : tail, cut: start ? sinks : -1 };
}

function lanes(W, show, state, view, o) {
  const out = [], { shown, cut } = columns(show, state.p), gap = cut >= 0 ? 14 : 0, cw = (WIDE - LEFT - gap) / Math.max(shown.length, 1);
  const place = new Map(shown.map((p, i) => [p, LEFT + i * cw + (cut >= 0 && i >= cut ? gap : 0)]));
  const n = state.slots.length, first = Math.max(0, Math.min(n - SHOWN, state.held.lastIndexOf(state.p) - SHOWN + 3)), row = Math.min(n, SHOWN);
  const sums = state.sums, room = Math.max(3, ...show.steps.map(s => s.sum?.length ?? 0)) * 44, aside = show.steps.some(s => s.sum) ? Math.min(room, 240) : 0, sumw = aside / Math.max(1, room / 44);
  const sw = Math.min(58, (WIDE - LEFT - aside) / Math.max(row, 1)), x0 = LEFT + (WIDE - LEFT - aside - sw * row) / 2, slotX = k => x0 + (k - first) * sw;
  const texts = show.words.length > 0, yT = 34, hT = 27, yS = yT + hT + (texts ? 19 : 5), yM = yS + 92, yC = yM + (show.page ? 90 : 76), inRow = k => k >= first && k < first + row;
  const title = (y, a, b) => out.push(word(0, y, a, { at: "start", size: 13, bold: 1 }), b ? word(0, y + 15, b, { at: "start", size: 11.5, ink: DIM }) : "");
  title(yT + 12, W.time, W.time2); title(yM + 14, W.memory, W.memory2);
  // Brackets over what the newest token sees of the slots.
  const seen = [...view.keys.values()].filter(key => key.seen).map(key => key.p).sort((a, b) => a - b), runs = [];
  for (const p of seen) { const last = runs.at(-1); if (last && last[1] === p - 1) last[1] = p; else if (!last || last[1] !== p) runs.push([p, p]); }
  for (const [a, b] of runs) { const x = place.get(Math.max(a, shown.find(s => s >= a) ?? a)), y = place.get(b); if (x === undefined || y === undefined) continue;
    const sink = show.sinks && b < show.sinks && runs.length > 1;
    out.push(`<path d="M${r1(x + 1)},${yT - 4}v-8H${r1(y + cw - 1)}v8" fill="none" stroke="${TEXT}" stroke-width="1.6"/>`, word((x + y + cw) / 2, yT - 18, sink ? W.sees_sinks : fill(W.sees, { n: b - a + 1 }))); }
  // The text.
  for (const p of shown) { const x = place.get(p), past = p <= state.p, k = state.held.lastIndexOf(p), token = show.words[p] ?? "";
    out.push(`<g data-k="${k}"${o.dim(k < 0 ? -1 : p)}>`, box(x + .8, yT, cw - 1.6, hT, { fill: k >= 0 ? paint(k, o.id) : past ? `url(#${o.id}left)` : "none", stroke: p === state.p ? TEXT : LINE, width: p === state.p ? 2.6 : .8, dash: past ? "" : "2 3", round: 2 }),
      cw > 7.5 * String(show.tokens).length || p % 4 === 0 || p === state.p ? word(x + cw / 2, yT + 17, p, { size: cw > 22 ? 12 : 9.5, bold: k >= 0, ink: k >= 0 ? ink(k) : DIM, halo: k >= 0 ? halo(k) : undefined }) : "",
      texts && past ? word(x + cw / 2, yT + hT + 12, short(token, Math.max(2, Math.round(cw / 5.5))), { size: 9.5, ink: DIM }) : "", "</g>"); }
  if (cut >= 0) out.push(word(LEFT + cut * cw + gap / 2, yT + 17, W.gap, { ink: DIM }));
  // Summaries: over the text they stand for, and as entries of their own.
  sums.forEach(([a, b], i) => { const inside = shown.filter(p => p >= a && p <= b), x = x0 + sw * row + 10 + i * sumw, label = a === b ? `Σ${a}` : `Σ${a}–${b}`;
    if (inside.length) { const from = place.get(inside[0]) + 1.5, to = place.get(inside.at(-1)) + cw - 1.5, mid = (from + to) / 2, end = x + sumw / 2;
      out.push(box(from, yS, to - from, 17, { fill: PAPER, stroke: TEXT, width: 1.6, round: 8 }), to - from > 44 ? word(mid, yS + 13, label, { size: 11, bold: 1 }) : "",
        `<path d="M${r1(mid)},${yS + 19}C${r1(mid)},${yS + 52} ${r1(end)},${yM - 34} ${r1(end)},${yM - 2}" fill="none" stroke="${TEXT}" stroke-width="1.4" stroke-dasharray="1 3" stroke-linecap="round"/>`); }
    out.push(box(x, yM, sumw - 5, 31, { fill: PAPER, stroke: TEXT, width: 1.6, round: 8 }), word(x + sumw / 2 - 2.5, yM + 20, sumw > 36 ? label : "Σ", { size: b > 9 ? 9 : 11, bold: 1 }), sw >= 22 ? word(x + sumw / 2 - 2.5, yC + Math.min(17, sw / 2 - 2) + 17, r1(state.p - sums[i][2]), { size: 11 }) : ""); });
  // Links from text to slots: where they cross, the ring has been written round.
  for (const [k, p] of view.live) { const a = place.get(p); if (a === undefined || !inRow(k)) continue;
    const x = a + cw / 2, y = slotX(k) + sw / 2, on = p === state.p || o.over === p, path = `d="M${r1(x)},${yS - 3}C${r1(x)},${yS + 50} ${r1(y)},${yM - 46} ${r1(y)},${yM - 2}" fill="none"`;
    out.push(`<g data-k="${k}"${o.dim(p)}><path ${path} stroke="${TEXT}" stroke-width="${on ? 5.4 : 3.2}" opacity=".45"/><path ${path} stroke="${COLOURS[k % 8]}" stroke-width="${on ? 4 : 2}"${k % 16 > 7 ? ' stroke-dasharray="6 3"' : ""}/></g>`); }
  // Slots, the angle of each key, and how far back it is.
  const radius = Math.min(17, sw / 2 - 2), clocks = sw >= 22 && state.t > 0;
  for (let k = first - first % (show.page || 1); show.page && k < first + row; k += show.page) out.push(box(slotX(k), yM - 3, sw * show.page, 55, { stroke: TEXT, width: 1.4, round: 5 }), word(slotX(k + show.page / 2), yM + 66, fill(W.pagen, { k: k / show.page }), { size: 11, bold: 1 }));
  for (let k = first; k < first + row; k++) { const p = state.held[k], x = slotX(k), c = x + sw / 2, key = view.keys.get(k), hot = state.wrote.includes(k), says = state.slots[k];
    out.push(`<g data-k="${k}"${o.dim(p)}${o.asks ? ` role="button" tabindex="0" aria-label="${escaped(fill(W.slotn, { k }))}" aria-pressed="${o.picked.has(k)}"` : ""}>`, o.asks ? `<rect x="${r1(x)}" y="${yM}" width="${r1(sw)}" height="${yC + radius + 22 - yM}" fill="none" pointer-events="all"/>` : "", box(x + (sw > 30 ? 3 : .7), yM, sw - (sw > 30 ? 6 : 1.4), 31, { hot, fill: p < 0 ? PAPER : paint(k, o.id), stroke: hot ? TEXT : o.picked.has(k) || (says !== p && says >= 0) ? WRONG : LINE, width: hot || o.picked.has(k) || (says !== p && says >= 0) ? 3 : 1, dash: p < 0 ? "3 3" : "" }),
      p >= 0 && sw > 15 ? word(c, yM + 20, says === p || says < 0 ? p : `${p}≠${says}`, { size: sw > 30 ? (says === p ? 15 : 11) : 10, bold: 1, ink: ink(k), halo: halo(k) }) : p < 0 && says >= 0 ? word(c, yM + 20, `?≠${says}`, { size: 11, ink: WRONG, bold: 1 }) : "",
      sw > 11 ? word(c, yM + 46, sw > 44 ? fill(W.slotn, { k }) : k, { size: sw > 30 ? 11 : 8.5, ink: DIM }) : "");
    if (key && clocks) { const hand = (deg, r, look) => `<path d="M${r1(c)},${yC}L${r1(c + r * Math.sin(deg * Math.PI / 180))},${r1(yC - r * Math.cos(deg * Math.PI / 180))}" stroke-linecap="round" ${look}/>`;
      out.push(`<circle cx="${r1(c)}" cy="${yC}" r="${r1(radius)}" fill="${PAPER}" stroke="${key.wrong ? WRONG : LINE}" stroke-width="${key.wrong ? 1.8 : 1.2}"/>`,
        key.angle !== p ? hand(p * TURN, radius - 3, `stroke="${DIM}" stroke-width="1.6" stroke-dasharray="2 2"`) : "", hand(key.angle * TURN, radius - 3, `stroke="${key.wrong ? WRONG : COLOURS[k % 8]}" stroke-width="3"`),
        word(c, yC + radius + 17, `${key.looks < 0 ? "−" + -key.looks : key.looks}${key.wrong ? " ✗" : key.seen ? "" : " –"}`, { size: sw > 30 ? 13 : 10, bold: key.wrong, ink: key.wrong ? WRONG : TEXT })); }
    out.push("</g>"); }
  if (clocks) { title(yC - 2, W.clock, W.clock2); title(Math.max(yC + radius + 17, yC + 31), W.distance); }
  if (first > 0) out.push(word(x0 - 7, yM + 20, W.gap, { ink: DIM }));
  if (first + row < n) out.push(word(x0 + sw * row + 7, yM + 20, W.gap, { ink: DIM }));
  // What is held, on the scale of keeping everything.
  const yB = yC + (clocks ? radius + 43 : -16), scale = (WIDE - LEFT) * .84 / Math.max(show.tokens, n + sums.length, 1), mine = view.live.length;
  title(yB + 6, W.kept);
  const bar = (y, name, a, b, label) => out.push(word(0, y + 13, name, { at: "start", ink: DIM }), box(LEFT, y, scale * a, 16, { fill: DIM, stroke: "none", round: 0 }), b ? box(LEFT + scale * a + 1, y + 1, scale * b - 1, 14, { fill: PAPER, stroke: TEXT, width: 1.4, round: 0 }) : "", word(LEFT + scale * (a + b) + 8, y + 13, label, { at: "start", size: 13, bold: 1 }));
  bar(yB + 16, W.all, state.p + 1, 0, state.p + 1); bar(yB + 38, W.this, mine, sums.length, sums.length ? fill(W.of_summaries, { n: mine, s: sums.length }) : mine);
  return `<svg viewBox="-2 0 ${WIDE + 4} ${yB + 60}" ${o.asks ? 'role="group"' : 'aria-hidden="true"'}>${patterns(o.id)}${out.join("")}</svg>`;
}

function table(W, state, view) {
  const head = ["t_slot", "t_says", "t_holds", "t_seen", "t_distance", "t_angle"].map(name => `<th scope="col">${escaped(W[name])}</th>`).join("");
  const line = k => { const key = view.keys.get(k), cells = [state.slots[k] < 0 ? W.none : state.slots[k], state.held[k] < 0 ? W.none : state.held[k], key ? (key.seen ? W.yes : W.no) : "", key ? key.looks : "", key ? `${key.angle * TURN % 360}°` : ""];
    return `<tr><th scope="row">${k}</th>${cells.map(cell => `<td>${escaped(cell)}</td>`).join("")}</tr>`; };
  const sums = state.sums.map(([a, b, centre]) => `<tr><th scope="row">Σ</th><td>${centre}</td><td>${a}–${b}</td><td></td><td>${state.p - centre}</td><td></td></tr>`).join("");
  return `<table><tr>${head}</tr>${state.slots.slice(0, 200).map((_, k) => line(k)).join("")}${sums}</table>`;
}

// One cache in the figure: its sentence, its picture and its table.
function panel(W, root) {
  // Each figure loads this module anew, so a count would give all the same: their patterns would be the first one's.
  const id = `rt${Math.random().toString(36).slice(2, 9)}`, el = document.createElement("div");
  el.innerHTML = `<p class="say"></p><div class="fig" role="group" tabindex="0"><div class="ring"></div><div class="lanes"></div></div><details><summary>${escaped(W.table)}</summary><div class="tbl"></div></details>`;
  root.append(el);
  const $ = s => el.querySelector(s), fig = $(".fig");
  return { el, fig, draw(show, t, angle, look, talk) {
    const state = show.at(t), view = derived(state, angle);
    const o = { ...look, id, dim: p => look.over >= 0 && look.over !== p ? ' class="dim"' : "" };
    $(".ring").innerHTML = ring(W, show, state, view, o);
    $(".lanes").innerHTML = lanes(W, show, state, view, o);
    const said = (show.title ? `<b>${escaped(show.title)}.</b> ` : "") + sentence(W, show, state, angle);
    $(".say").setAttribute("aria-live", talk ? "polite" : "off");
    if ($(".say").innerHTML !== said) $(".say").innerHTML = said;
    Object.assign(fig.dataset, { t, slots: state.slots.join(","), held: state.held.join(","), seen: state.seen ? [...state.seen].join(",") : "", angle,
      wrote: state.wrote.join(","), looks: [...view.keys.values()].map(key => key.looks).join(","), wrong: state.wrong.map(one => one.kind).join(","), sums: state.sums.map(([a, b]) => `${a}-${b}`).join(",") });
    fig.setAttribute("aria-label", `${W.figure}, ${W.step} ${t}: ` + state.slots.slice(0, 40).map((p, k) => `${fill(W.slotn, { k })} ${p < 0 ? W.free : p}`).join(", "));
    if ($("details").open) $(".tbl").innerHTML = table(W, state, view);
    $("details").ontoggle = () => { if ($("details").open) $(".tbl").innerHTML = table(W, state, view); };
  } };
}

function render({ model, el }) {
  const get = name => model.get(name), W = get("words"), shows = get("traces").flatMap(group).map(stage);
  const root = document.createElement("div"), control = (name, inner) => `<label class="${name}">${escaped(W[name] ?? name)} ${inner}</label>`;
  root.className = "ringkv"; root.lang = get("lang"); el.append(root);
  root.innerHTML = `<div class="ctl" role="group" aria-label="${escaped(W.step)}"><button class="back" aria-label="${escaped(W.back)}" title="${escaped(W.back)} (←)">◀</button><button class="play"></button>
    <button class="on" aria-label="${escaped(W.on)}" title="${escaped(W.on)} (→)">▶▏</button>${control("step", '<input type="range" min="0" step="1"><output></output>')}${control("speed", "<select></select>")}</div>
    <div class="ctl choices">${["trace", "window", "row", "angle", "predict"].map(name => control(name, "<select></select>")).join("")}</div>
    <p class="ask" role="status"></p>`;
  const $ = s => root.querySelector(s), menu = name => $(`.${name} select`), slider = $("input"), play = $(".play");
  const options = (name, found, now) => { menu(name).innerHTML = found.map(([value, text]) => `<option value="${escaped(value)}"${String(value) === String(now) ? " selected" : ""}>${escaped(text)}</option>`).join(""); $(`.${name}`).hidden = found.length < 2; };
  const both = get("beside"), panels = (both ? shows.filter(s => !s.row) : [0]).map(() => panel(W, root));
  const guess = { picked: new Set(), right: 0, wrong: 0, said: "" };
  let over = -1, timer = 0, late = 0;
  const current = () => shows[Math.min(get("chosen"), shows.length - 1)], last = () => both ? Math.max(...shows.map(s => s.length)) : current().length;
  const clamp = t => Math.max(0, Math.min(last(), t));

  function menus() {
    const now = current(), unique = values => [...new Set(values)], same = shows.filter(s => s.name === now.name);
    options("trace", both ? [] : unique(shows.map(s => s.name)).map(name => [name, name]), now.name);
    options("window", both ? [] : unique(same.map(s => s.window)).map(w => [w, w ?? W.everything]), now.window);
    options("row", both ? [] : unique(same.filter(s => s.window === now.window).map(s => s.row)).map(r => [r, r]), now.row);
    options("angle", ["position", "slot", "rank"].map(name => [name, W[name]]), get("angle"));
    options("predict", both ? [] : ["off", "slot", "seen", "wrong"].map(name => [name, W[`guess_${name}`]]), get("predict"));
    options("speed", [1, 2, 4, 10].map(n => [n, n]), get("speed"));
  }
  function draw() {
    const t = clamp(get("step")), asks = !both && get("predict") !== "off" && t < last();
    slider.max = last(); slider.value = t; slider.setAttribute("aria-valuetext", `${t} / ${last()}`);
    $("output").textContent = `${t} / ${last()}`; $(".on").disabled = play.disabled = asks;
    play.textContent = timer ? `⏸ ${W.pause}` : `▶ ${W.play}`;
    const look = { over, picked: guess.picked, asks };
    (both ? shows.filter(s => !s.row) : [current()]).forEach((show, i) => panels[i].draw(both ? { ...show, title: show.name } : show, Math.min(t, show.length), get("angle"), look, !timer));
    ask(t, asks);
  }
  // Predict first: choose a slot, or the slots that will be seen; then the step is shown.
  function ask(t, asks) {
    const score = guess.right + guess.wrong ? ` ${fill(W.score, { r: guess.right, w: guess.wrong })}.` : "";
    const mode = get("predict"), several = mode !== "slot" ? ` <button class="answer">${escaped(W.answer)}</button>` : "";
    const question = asks ? escaped(fill(W[`ask_${mode}`], { p: current().steps[t]?.p })) + several : "";
    const html = mode === "off" ? "" : `${escaped(guess.said + score)} ${question}`;
    if ($(".ask").innerHTML !== html) $(".ask").innerHTML = html;
    const button = $(".answer"); if (button) button.onclick = () => judge(guess.picked);
    root.dataset.right = guess.right; root.dataset.wrong = guess.wrong;
  }
  function pick(k) {
    if (get("predict") === "slot") return judge(new Set([k]));
    guess.picked.has(k) ? guess.picked.delete(k) : guess.picked.add(k); draw();
    panels[0].fig.querySelector(`.lanes [role=button][data-k="${k}"]`)?.focus();
  }
  function judge(picked) {
    const mode = get("predict"), next = current().at(clamp(get("step") + 1)), view = derived(next, get("angle"));
    const truth = new Set(mode === "slot" ? next.wrote : [...view.keys.values()].filter(key => key[mode]).map(key => key.k));
    const right = truth.size === picked.size && [...truth].every(k => picked.has(k));
    right ? guess.right++ : guess.wrong++;
    const slots = [...truth].sort((a, b) => a - b).join(", ") || W.none;
    guess.said = right ? W.right : fill(W.not_right, { t: fill(W[`it_${mode}`], { k: slots }) });
    guess.picked.clear(); over = -1; go(get("step") + 1); panels[0].fig.focus({ preventScroll: true });
  }
  // The kernel hears of a step late, or never: nothing here waits for it.
  function set(name, value) {
    model.set(name, value); clearTimeout(late);
    late = setTimeout(() => { try { model.save_changes(); } catch { /* no kernel any more */ } }, 200);
    draw();
  }
  const go = t => set("step", clamp(t)), stop = () => { clearInterval(timer); timer = 0; draw(); };
  const forget = () => { guess.picked.clear(); guess.said = ""; };
  function toggle() {
    if (timer) return stop();
    if (play.disabled) return;
    if (get("step") >= last()) go(0);
    timer = setInterval(() => { go(get("step") + 1); if (!root.isConnected || get("step") >= last()) stop(); }, 1000 / get("speed"));
    draw();
  }
  const move = n => { if (n > 0 && $(".on").disabled) return; if (timer) stop(); forget(); go(get("step") + n); };
  const choose = test => { const found = shows.findIndex(test); set("chosen", Math.max(0, found)); set("step", clamp(get("step"))); menus(); };
  slider.oninput = () => { forget(); go(+slider.value); };
  play.onclick = toggle; $(".back").onclick = () => move(-1); $(".on").onclick = () => move(1);
  menu("trace").onchange = e => choose(s => s.name === e.target.value);
  menu("window").onchange = e => choose(s => s.name === current().name && String(s.window) === e.target.value);
  menu("row").onchange = e => { const now = current(); choose(s => s.name === now.name && s.window === now.window && String(s.row) === e.target.value); };
  menu("angle").onchange = e => set("angle", e.target.value);
  menu("speed").onchange = e => { set("speed", +e.target.value); if (timer) { stop(); toggle(); } };
  menu("predict").onchange = e => { stop(); forget(); guess.right = guess.wrong = 0; set("predict", e.target.value); };
  // A picture that is drawn anew under a resting pointer is not pointed at: only a move is.
  let rests = [-9, -9];
  const resting = e => Math.hypot(e.clientX - rests[0], e.clientY - rests[1]) < 2;
  root.addEventListener("click", e => { rests = [e.clientX, e.clientY]; const g = e.target.closest?.(".fig [data-k]"); if (g && $(".on").disabled && +g.dataset.k >= 0) pick(+g.dataset.k); });
  root.addEventListener("pointerover", e => { if (resting(e)) return; const g = e.target.closest?.(".fig [data-k]"), now = g && !timer ? current().at(clamp(get("step"))).held[+g.dataset.k] ?? -1 : -1; if (now !== over && !both) { over = now; draw(); } });
  root.addEventListener("pointerleave", () => { if (over >= 0) { over = -1; draw(); } });
  root.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.key === "Escape" || (e.shiftKey && e.key === "Enter")) return;
    e.stopPropagation(); // or JupyterLab cuts the cell at the letter x
    const slot = e.target.closest?.("[role=button][data-k]"), by = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[e.key];
    if (slot && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); pick(+slot.dataset.k); }
    else if (e.target.closest?.(".fig") && by) { e.preventDefault(); move(by); }
    else if (e.target.classList.contains("fig") && e.key === " ") { e.preventDefault(); toggle(); }
  });
  const names = ["step", "chosen", "angle", "predict"].map(name => `change:${name}`), heard = () => { menus(); draw(); };
  names.forEach(name => model.on(name, heard)); menus(); draw();
  return () => { clearInterval(timer); clearTimeout(late); names.forEach(name => model.off(name, heard)); };
}

// A batch is one trace for each row.
const group = trace => trace.rows?.length ? [{ ...trace, row: 0 }, ...trace.rows.map((row, i) => ({ ...row, name: trace.name, row: i + 1 }))] : [{ ...trace, row: 0 }];

export default { render };
