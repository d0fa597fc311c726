// Figures one can move. Each has a pure function of its settings (tested against Python's numbers) and a
// drawing in SVG. A page asks for one with <div class="live" data-figure="bound"></div>.
"use strict";
(function () {
  const range = n => [...Array(n).keys()];
  const sum = a => a.reduce((s, x) => s + x, 0);
  const round = (x, digits = 3) => Number.isFinite(x) ? x.toFixed(digits) : String(x);

  // a small generator of numbers, the same here and in Python: x <- (16807 x) mod (2^31 - 1)
  function numbers(seed) {
    let state = seed;
    return () => (state = (16807 * state) % 2147483647) / 2147483647;
  }

  // ---- Theorem 0.1: 1/l2 - l1 l2 r ------------------------------------------------------------
  function bound({ support, lift, prior }) {
    const allowed = lift * prior <= 1 && support * lift <= 1;
    return { bound: 1 / lift - support * lift * prior, allowed };
  }

  // ---- stumps on two coordinates ----------------------------------------------------------------
  function plane(seed = 7, n = 60) {
    const next = numbers(seed);
    const points = range(n).map(() => [2 * next() - 1, 2 * next() - 1]);
    const labels = points.map(([a, b]) => (a * b > 0 ? 1 : -1) * (next() < .1 ? -1 : 1));
    const raw = range(n).map(() => .5 + next());
    const total = sum(raw);
    return { points, labels, weights: raw.map(w => w / total) };
  }

  function stumps(points) {
    const found = [];
    range(points[0].length).forEach(feature => {
      const values = [...new Set(points.map(p => p[feature]))].sort((a, b) => a - b);
      values.slice(1).forEach((v, k) => found.push({ feature, cut: (values[k] + v) / 2 }));
    });
    return found;
  }

  const says = (stump, point) => point[stump.feature] <= stump.cut ? 1 : -1;

  function bestStump(points, targets, weights) {
    let best = { edge: -1 };
    stumps(points).forEach(stump => {
      const edge = sum(points.map((p, i) => weights[i] * targets[i] * says(stump, p)));
      const sign = edge < 0 ? -1 : 1;
      if (Math.abs(edge) > best.edge) best = { ...stump, sign, edge: Math.abs(edge) };
    });
    return best;
  }

  const output = (stump, point) => stump.sign * says(stump, point);

  function bestProduct(points, targets, weights) {
    const all = stumps(points);
    const outputs = all.map(s => points.map(p => says(s, p)));
    const single = bestStump(points, targets, weights);
    let best = { factors: [single], edge: single.edge };
    all.forEach((a, i) => all.slice(0, i).forEach((b, j) => {
      let edge = 0;
      for (let k = 0; k < points.length; k++) edge += weights[k] * targets[k] * outputs[i][k] * outputs[j][k];
      if (Math.abs(edge) > best.edge + 1e-12) {
        best = { factors: [{ ...a, sign: edge < 0 ? -1 : 1 }, { ...b, sign: 1 }], edge: Math.abs(edge) };
      }
    }));
    return best;
  }

  // AdaBoost on the exclusive or, with stumps or with products of two
  function xor({ rounds, products, seed = 7 }) {
    const { points, labels, weights } = plane(seed);
    let w = weights.slice();
    const terms = [];
    const losses = [];
    let loss = 1;
    range(rounds).forEach(() => {
      const stump = products ? null : bestStump(points, labels, w);
      const term = products ? bestProduct(points, labels, w) : { factors: [stump], edge: stump.edge };
      if (term.edge >= 1 - 1e-12) { term.edge = 1 - 1e-12; }
      const alpha = .5 * Math.log((1 + term.edge) / (1 - term.edge));
      const said = points.map(p => term.factors.reduce((m, s) => m * output(s, p), 1));
      w = w.map((x, i) => x * Math.exp(-alpha * labels[i] * said[i]));
      const total = sum(w);
      w = w.map(x => x / total);
      loss *= Math.sqrt(1 - term.edge * term.edge);
      terms.push({ ...term, alpha });
      losses.push(loss);
    });
    const score = p => sum(terms.map(t => t.alpha * t.factors.reduce((m, s) => m * output(s, p), 1)));
    const error = sum(points.map((p, i) => weights[i] * (score(p) * labels[i] <= 0 ? 1 : 0)));
    return { points, labels, weights: w, edges: terms.map(t => t.edge), losses, error, score };
  }

  // Procedure 1 of paper 1 from given random signs: edges of the inner steps
  function relabelling({ steps, seed = 7, start = 3 }) {
    const { points, labels, weights } = plane(seed);
    const next = numbers(start);
    const signs = points.map(() => next() < .5 ? 1 : -1);
    let other = bestStump(points, labels.map((y, i) => y * signs[i]), weights);
    const edges = [];
    const chain = [other];
    range(steps).forEach(() => {
      const targets = labels.map((y, i) => y * output(other, points[i]));
      other = bestStump(points, targets, weights);
      edges.push(other.edge);
      chain.push(other);
    });
    return { points, labels, signs, edges, chain };
  }

  // ---- dichotomies of points by stumps ------------------------------------------------------------
  function shatter({ points }) {
    const rows = new Set([points.map(() => "+").join("")]);
    range(points[0].length).forEach(feature => {
      const values = [...new Set(points.map(p => p[feature]))].sort((a, b) => a - b).slice(0, -1);
      values.forEach(t => rows.add(points.map(p => p[feature] <= t ? "+" : "-").join("")));
    });
    [...rows].forEach(r => rows.add(r.replace(/[+-]/g, c => c === "+" ? "-" : "+")));
    const all = range(2 ** points.length).map(k => range(points.length).map(i => k >> i & 1 ? "+" : "-").join(""));
    return { count: rows.size, shattered: rows.size === 2 ** points.length, missing: all.filter(r => !rows.has(r)) };
  }

  // ---- weighted Fisher direction of two classes in the plane ----------------------------------------
  function cloud() {
    const next = numbers(11);
    const normal = () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
    const rows = [];
    range(60).forEach(i => {
      const group = i % 3;
      const centre = [[-1, -.3], [1, .2], [-.2, 1.6]][group];
      rows.push({ u: centre[0] + .55 * normal(), v: centre[1] + .4 * normal(), z: group ? 1 : -1, group });
    });
    return rows;
  }

  function lda({ share }) {
    const rows = cloud();
    const weights = rows.map(r => r.group === 0 ? 1 : r.group === 1 ? 1 - share : share);
    const mean = side => {
      const w = rows.map((r, i) => r.z === side ? weights[i] : 0);
      const total = sum(w);
      return [sum(rows.map((r, i) => w[i] * r.u)) / total, sum(rows.map((r, i) => w[i] * r.v)) / total];
    };
    const [plus, minus] = [mean(1), mean(-1)];
    let [a, b, c] = [0, 0, 0];
    rows.forEach((r, i) => {
      const m = r.z > 0 ? plus : minus;
      const [x, y] = [r.u - m[0], r.v - m[1]];
      a += weights[i] * x * x; b += weights[i] * x * y; c += weights[i] * y * y;
    });
    const d = [plus[0] - minus[0], plus[1] - minus[1]];
    const det = a * c - b * b;
    const raw = [(c * d[0] - b * d[1]) / det, (a * d[1] - b * d[0]) / det];
    const length = Math.hypot(...raw);
    return { rows, weights, plus, minus, direction: raw.map(x => x / length) };
  }

  // ---- the soft margin of a linear program for given margins ------------------------------------------
  function someMargins() {
    const next = numbers(5);
    return range(40).map(() => 1.2 * (next() + next() + next()) / 3 - .25);
  }

  function softMargin({ nu }) {
    const margins = someMargins().sort((a, b) => a - b);
    const cap = 1 / (nu * margins.length);
    let k = 0;
    let used = cap;
    while (used < 1 - 1e-12 && k < margins.length - 1) { k += 1; used += cap; }
    const rho = margins[k];
    const objective = rho - cap * sum(margins.map(m => Math.max(0, rho - m)));
    return { margins, rho, objective, below: margins.filter(m => m < rho).length / margins.length,
             notAbove: margins.filter(m => m <= rho).length / margins.length };
  }

  // ---- feature-sign search on a quadratic of two weights ------------------------------------------------
  function featureSign({ penalty, correlation }) {
    const H = [[1, correlation], [correlation, 1]];
    const b = [1, .55];
    const gradient = x => [H[0][0] * x[0] + H[0][1] * x[1] - b[0], H[1][0] * x[0] + H[1][1] * x[1] - b[1]];
    const value = x => .5 * (x[0] * (H[0][0] * x[0] + 2 * H[0][1] * x[1]) + H[1][1] * x[1] * x[1])
      - b[0] * x[0] - b[1] * x[1] + penalty * (Math.abs(x[0]) + Math.abs(x[1]));
    const solve = signs => {
      const on = [0, 1].filter(i => signs[i] !== 0);
      const right = on.map(i => b[i] - penalty * signs[i]);
      if (on.length === 1) return signs.map((s, i) => s === 0 ? 0 : right[0] / H[i][i]);
      const det = H[0][0] * H[1][1] - H[0][1] * H[1][0];
      return [(right[0] * H[1][1] - right[1] * H[0][1]) / det, (right[1] * H[0][0] - right[0] * H[1][0]) / det];
    };
    let x = [0, 0];
    const path = [{ x, signs: [0, 0] }];
    for (let turn = 0; turn < 20; turn++) {
      const g = gradient(x);
      const signs = x.map((v, i) => v !== 0 ? Math.sign(v) : 0);
      const broken = [0, 1].filter(i => x[i] === 0 && Math.abs(g[i]) > penalty + 1e-12);
      const settled = [0, 1].every(i => x[i] === 0 || Math.abs(g[i] + penalty * Math.sign(x[i])) < 1e-12);
      if (!broken.length && settled) break;
      if (settled) {
        const worst = broken.sort((i, j) => Math.abs(g[j]) - Math.abs(g[i]))[0];
        signs[worst] = -Math.sign(g[worst]);
      }
      const target = solve(signs);
      const stops = [0, 1].filter(i => x[i] * target[i] < 0).map(i => x[i] / (x[i] - target[i]));
      const places = [...stops, 1].map(t => x.map((v, i) => {
        const moved = v + t * (target[i] - v);
        return Math.abs(moved) < 1e-14 ? 0 : moved;
      }));
      x = places.reduce((best, p) => value(p) < value(best) ? p : best, places[0]);
      path.push({ x, signs });
    }
    return { solution: x, value: value(x), path, H, b, objective: value };
  }

  // ---- the lattice of item sets --------------------------------------------------------------------------
  const BASKETS = ["abc", "abd", "ab", "acd", "abcd", "bc", "ad", "bd", "abc", "cd"];

  function lattice({ support }) {
    const items = ["a", "b", "c", "d"];
    const sets = range(16).map(k => items.filter((_, i) => k >> i & 1)).map(set => ({
      name: set.join(""), size: set.length,
      support: BASKETS.filter(b => set.every(i => b.includes(i))).length,
    }));
    sets.forEach(s => {
      const above = sets.filter(t => t.size === s.size + 1 && [...s.name].every(i => t.name.includes(i)));
      s.frequent = s.support >= support;
      s.closed = s.frequent && above.every(t => t.support < s.support);
      s.maximal = s.frequent && above.every(t => t.support < support);
    });
    const real = sets.filter(s => s.size > 0);
    return { sets, frequent: real.filter(s => s.frequent).length, closed: real.filter(s => s.closed).length,
             maximal: real.filter(s => s.maximal).length };
  }

  // ---- the two error rates of pairs ------------------------------------------------------------------------
  function pairScores() {
    const next = numbers(21);
    const bell = () => next() + next() + next() + next() - 2;
    return { same: range(60).map(() => .6 + bell() * .8), other: range(60).map(() => -.4 + bell() * .8) };
  }

  function roc({ threshold }) {
    const { same, other } = pairScores();
    const match = t => other.filter(s => s > t).length / other.length;
    const miss = t => same.filter(s => s <= t).length / same.length;
    const cuts = [-Infinity, ...[...same, ...other].sort((a, b) => a - b)];
    const curve = cuts.map(t => [match(t), miss(t)]);
    const k = curve.findIndex(([a, b]) => b - a >= 0);
    const gap = i => curve[i][1] - curve[i][0];
    const share = gap(k) === 0 || k === 0 ? 1 : -gap(k - 1) / (gap(k) - gap(k - 1));
    const equal = k === 0 ? curve[0][1] : (1 - share) * curve[k - 1][1] + share * curve[k][1];
    return { falseMatch: match(threshold), falseNonMatch: miss(threshold), equal, curve };
  }

  // ---- how masters weigh a margin ------------------------------------------------------------------------------
  function weighing({ margin }) {
    return { exponential: Math.exp(-margin), logistic: 1 / (1 + Math.exp(2 * margin)),
             mada: Math.min(1, Math.exp(-margin)) };
  }

  // ---- Sauer's lemma ----------------------------------------------------------------------------------------------
  function sauer({ points, dimension }) {
    let [total, binomial] = [0, 1];
    for (let i = 0; i <= Math.min(points, dimension); i++) {
      total += binomial;
      binomial = binomial * (points - i) / (i + 1);
    }
    return { count: total, all: 2 ** points };
  }

  const compute = { bound, xor, relabelling, shatter, lda, softMargin, featureSign, lattice, roc, weighing, sauer };
  if (typeof module !== "undefined" && module.exports) { module.exports = compute; return; }

  // ==== drawing ====================================================================================================
  const BLUE = "#0173b2", ORANGE = "#c05c00", GREEN = "#02785a", GREY = "#767676";
  const SPACE = "http://www.w3.org/2000/svg";

  function draw(parent, tag, attributes = {}, text) {
    const node = document.createElementNS(SPACE, tag);
    Object.entries(attributes).forEach(([k, v]) => node.setAttribute(k, v));
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  // axes from (x0, y0) to (x1, y1) in a box of the picture; gives functions to its pixels
  function axes(svg, box, x, y, labels = ["", ""]) {
    const X = v => box[0] + (v - x[0]) / (x[1] - x[0]) * box[2];
    const Y = v => box[1] + box[3] - (v - y[0]) / (y[1] - y[0]) * box[3];
    draw(svg, "rect", { x: box[0], y: box[1], width: box[2], height: box[3], fill: "none", stroke: GREY });
    const text = { fill: "currentColor", "font-size": 12, "text-anchor": "middle" };
    draw(svg, "text", { ...text, x: box[0] + box[2] / 2, y: box[1] + box[3] + 28 }, labels[0]);
    draw(svg, "text", { ...text, x: 0, y: 0, transform: `translate(${box[0] - 30} ${box[1] + box[3] / 2}) rotate(-90)` }, labels[1]);
    [x[0], x[1]].forEach(v => draw(svg, "text", { ...text, x: X(v), y: box[1] + box[3] + 14 }, round(v, 2)));
    [y[0], y[1]].forEach(v => draw(svg, "text", { ...text, x: box[0] - 14, y: Y(v) + 4 }, round(v, 1)));
    return { X, Y };
  }

  const path = (points, X, Y) => points.map(([a, b], i) => `${i ? "L" : "M"}${X(a).toFixed(2)} ${Y(b).toFixed(2)}`).join("");
  const dot = (svg, x, y, label, r = 4) => draw(svg, "circle", { cx: x, cy: y, r, fill: label > 0 ? BLUE : ORANGE, stroke: "none" });

  const figures = {
    bound: {
      title: "The bound of Theorem 0.1 over support and lift",
      controls: { support: [.01, 1, .01, .3], lift: [1.01, 5, .01, 1.6], prior: [.05, .9, .01, .4] },
      labels: { support: "support λ₁", lift: "lift λ₂", prior: "prior r" },
      paint(svg, settings) {
        const { X, Y } = axes(svg, [50, 16, 300, 220], [0, 1], [1, 5], ["support", "lift"]);
        range(40).forEach(i => range(40).forEach(j => {
          const [s, l] = [(i + .5) / 40, 1 + (j + .5) / 10];
          const { bound: b, allowed } = bound({ support: s, lift: l, prior: settings.prior });
          if (allowed) draw(svg, "rect", { x: X(s) - 4, y: Y(l) - 3, width: 8, height: 6, fill: BLUE, opacity: Math.max(.05, 1 - b) });
        }));
        draw(svg, "circle", { cx: X(settings.support), cy: Y(settings.lift), r: 6, fill: ORANGE });
        const answer = bound(settings);
        return answer.allowed ? `error at most ${round(answer.bound)}` : "no rule can have this support and this lift";
      },
    },
    xor: {
      title: "AdaBoost on the exclusive or, round by round",
      controls: { rounds: [0, 12, 1, 1], products: [0, 1, 1, 1] },
      labels: { rounds: "rounds", products: "products of two stumps" },
      paint(svg, settings) {
        const { X, Y } = axes(svg, [50, 16, 220, 220], [-1, 1], [-1, 1], ["x₀", "x₁"]);
        const run = xor({ rounds: settings.rounds, products: settings.products > 0 });
        range(24).forEach(i => range(24).forEach(j => {
          const p = [-1 + (i + .5) / 12, -1 + (j + .5) / 12];
          const s = run.score(p);
          draw(svg, "rect", { x: X(p[0]) - 4.6, y: Y(p[1]) - 4.6, width: 9.2, height: 9.2, fill: s > 0 ? BLUE : ORANGE, opacity: Math.min(.6, Math.abs(s) / 3) });
        }));
        run.points.forEach((p, i) => dot(svg, X(p[0]), Y(p[1]), run.labels[i], 2 + 20 * Math.sqrt(run.weights[i]) / 2));
        const last = run.losses.length ? run.losses[run.losses.length - 1] : 1;
        return `training error ${round(run.error)}, its bound ${round(last)}`;
      },
    },
    relabelling: {
      title: "Relabelling: each step answers the labels times the other factor",
      controls: { steps: [1, 8, 1, 1], start: [1, 40, 1, 3] },
      labels: { steps: "inner steps", start: "random start" },
      paint(svg, settings) {
        const run = relabelling(settings);
        const { X, Y } = axes(svg, [50, 16, 190, 190], [-1, 1], [-1, 1], ["x₀", "x₁"]);
        const [a, b] = run.chain.slice(-2);
        run.points.forEach((p, i) => {
          const said = output(a, p) * output(b, p);
          dot(svg, X(p[0]), Y(p[1]), said, said === run.labels[i] ? 3 : 6);
        });
        [a, b].forEach(s => draw(svg, "path", { stroke: GREY, "stroke-width": 2, d: s.feature === 0
          ? path([[s.cut, -1], [s.cut, 1]], X, Y) : path([[-1, s.cut], [1, s.cut]], X, Y) }));
        const e = axes(svg, [310, 16, 190, 190], [1, 8], [0, 1], ["step", "edge"]);
        draw(svg, "path", { fill: "none", stroke: BLUE, "stroke-width": 2, d: path(run.edges.map((v, i) => [i + 1, v]), e.X, e.Y) });
        run.edges.forEach((v, i) => draw(svg, "circle", { cx: e.X(i + 1), cy: e.Y(v), r: 3, fill: BLUE }));
        return `edge after ${settings.steps} steps: ${round(run.edges[run.edges.length - 1])} (never falls); large dots are wrong`;
      },
    },
    shatter: {
      title: "Points that one drags, and what stumps can say about them",
      controls: { points: [2, 5, 1, 3] },
      labels: { points: "number of points" },
      start: [[.2, .5], [.5, .85], [.8, .3], [.35, .15], [.65, .65]],
      paint(svg, settings, state, again) {
        state.points = state.points || this.start.map(p => p.slice());
        const { X, Y } = axes(svg, [50, 16, 240, 220], [0, 1], [0, 1], ["x₀", "x₁"]);
        const points = state.points.slice(0, settings.points);
        const answer = shatter({ points });
        points.forEach((p, i) => {
          const node = draw(svg, "circle", { cx: X(p[0]), cy: Y(p[1]), r: 9, fill: BLUE, tabindex: 0, role: "button",
            "aria-label": `point ${i + 1} at ${round(p[0], 2)}, ${round(p[1], 2)}; arrow keys move it`, style: "cursor:grab" });
          const move = (x, y) => { p[0] = Math.min(1, Math.max(0, x)); p[1] = Math.min(1, Math.max(0, y)); again(i); };
          node.addEventListener("keydown", event => {
            const step = { ArrowLeft: [-.02, 0], ArrowRight: [.02, 0], ArrowUp: [0, .02], ArrowDown: [0, -.02] }[event.key];
            if (step) { event.preventDefault(); move(p[0] + step[0], p[1] + step[1]); }
          });
          node.addEventListener("pointerdown", () => { state.drag = i; });
        });
        svg.onpointermove = event => {
          if (state.drag === undefined) return;
          const box = svg.getBoundingClientRect();
          const scale = 520 / box.width;
          const p = state.points[state.drag];
          p[0] = Math.min(1, Math.max(0, ((event.clientX - box.left) * scale - 50) / 240));
          p[1] = Math.min(1, Math.max(0, 1 - ((event.clientY - box.top) * scale - 16) / 220));
          again();
        };
        svg.onpointerup = svg.onpointerleave = () => { state.drag = undefined; };
        const lacking = answer.missing.slice(0, 6).join("  ");
        return `${answer.count} of ${2 ** points.length} labellings` + (answer.shattered ? ": shattered" : `; none gives ${lacking}`);
      },
    },
    lda: {
      title: "The discriminant turns as weights move",
      controls: { share: [.02, .98, .02, .5] },
      labels: { share: "share of weight on the upper group" },
      paint(svg, settings) {
        const run = lda(settings);
        const { X, Y } = axes(svg, [50, 16, 300, 220], [-2.6, 2.6], [-1.6, 3], ["first coordinate", "second coordinate"]);
        run.rows.forEach((r, i) => dot(svg, X(r.u), Y(r.v), r.z, 1.5 + 4 * Math.sqrt(run.weights[i])));
        const m = [(run.plus[0] + run.minus[0]) / 2, (run.plus[1] + run.minus[1]) / 2];
        const d = run.direction;
        draw(svg, "path", { stroke: "currentColor", "stroke-width": 2.5, d: path([[m[0] - d[0], m[1] - d[1]], [m[0] + d[0], m[1] + d[1]]], X, Y) });
        return `direction (${round(d[0])}, ${round(d[1])})`;
      },
    },
    softMargin: {
      title: "The soft margin ρ and the share ν",
      controls: { nu: [.025, 1, .025, .2] },
      labels: { nu: "ν" },
      paint(svg, settings) {
        const run = softMargin(settings);
        const { X, Y } = axes(svg, [50, 16, 400, 190], [-.3, 1], [0, 1], ["margin", "share of examples"]);
        run.margins.forEach((m, i) => draw(svg, "circle", { cx: X(m), cy: Y((i + 1) / run.margins.length), r: 4, fill: m < run.rho ? ORANGE : BLUE }));
        draw(svg, "path", { stroke: "currentColor", "stroke-width": 2, d: path([[run.rho, 0], [run.rho, 1]], X, Y) });
        draw(svg, "path", { stroke: GREY, "stroke-dasharray": "4 3", d: path([[-.3, settings.nu], [1, settings.nu]], X, Y) });
        return `ρ = ${round(run.rho)}, objective ${round(run.objective)}; below ρ: ${round(run.below)} ≤ ν ≤ ${round(run.notAbove)}`;
      },
    },
    featureSign: {
      title: "Feature-sign search with two weights",
      controls: { penalty: [0, 1.05, .01, .25], correlation: [-.9, .9, .05, .6] },
      labels: { penalty: "penalty c", correlation: "correlation" },
      paint(svg, settings) {
        const run = featureSign(settings);
        const { X, Y } = axes(svg, [50, 16, 240, 220], [-1, 1.6], [-1, 1.6], ["first weight", "second weight"]);
        range(40).forEach(i => range(40).forEach(j => {
          const p = [-1 + 2.6 * (i + .5) / 40, -1 + 2.6 * (j + .5) / 40];
          const v = run.objective(p) - run.value;
          draw(svg, "rect", { x: X(p[0]) - 3, y: Y(p[1]) - 2.8, width: 6.1, height: 5.6, fill: BLUE, opacity: Math.min(.7, .12 * Math.round(5 * Math.sqrt(v)) / 2) });
        }));
        draw(svg, "path", { stroke: GREY, d: path([[0, -1], [0, 1.6]], X, Y) + path([[-1, 0], [1.6, 0]], X, Y) });
        draw(svg, "path", { fill: "none", stroke: ORANGE, "stroke-width": 3, d: path(run.path.map(p => p.x), X, Y) });
        run.path.forEach(p => draw(svg, "circle", { cx: X(p.x[0]), cy: Y(p.x[1]), r: 5, fill: ORANGE }));
        return `weights (${run.solution.map(v => round(v)).join(", ")}) after ${run.path.length - 1} steps`;
      },
    },
    lattice: {
      title: "Item sets of ten baskets, pruned by support",
      controls: { support: [1, 8, 1, 3] },
      labels: { support: "smallest support" },
      paint(svg, settings) {
        const run = lattice(settings);
        const place = {};
        range(5).forEach(size => {
          const level = run.sets.filter(s => s.size === size);
          level.forEach((s, i) => { place[s.name] = [260 + (i - (level.length - 1) / 2) * 78, 28 + 50 * size]; });
        });
        run.sets.forEach(s => run.sets.filter(t => t.size === s.size + 1 && [...s.name].every(i => t.name.includes(i))).forEach(t =>
          draw(svg, "path", { stroke: GREY, opacity: s.frequent && t.frequent ? .9 : .2, d: `M${place[s.name]}L${place[t.name]}` })));
        run.sets.forEach(s => {
          const [x, y] = place[s.name];
          draw(svg, "circle", { cx: x, cy: y, r: 15, fill: s.closed ? BLUE : s.frequent ? "#8ec1e0" : "#e4e4e4", stroke: s.maximal ? ORANGE : "none", "stroke-width": 3 });
          draw(svg, "text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, fill: s.closed ? "#fff" : "#111" }, (s.name || "∅") + " " + s.support);
        });
        return `${run.frequent} frequent, ${run.closed} closed (dark), ${run.maximal} maximal (ringed)`;
      },
    },
    roc: {
      title: "Two error rates of a verification, and the threshold between them",
      controls: { threshold: [-2, 2.2, .02, .1] },
      labels: { threshold: "threshold" },
      paint(svg, settings) {
        const run = roc(settings);
        const { same, other } = pairScores();
        const left = axes(svg, [50, 16, 200, 190], [-2, 2.4], [0, 1], ["score", ""]);
        other.forEach((s, i) => dot(svg, left.X(s), left.Y(.1 + .35 * (i / 60)), -1, 3));
        same.forEach((s, i) => dot(svg, left.X(s), left.Y(.55 + .35 * (i / 60)), 1, 3));
        draw(svg, "path", { stroke: "currentColor", "stroke-width": 2, d: path([[settings.threshold, 0], [settings.threshold, 1]], left.X, left.Y) });
        const right = axes(svg, [310, 16, 190, 190], [0, 1], [0, 1], ["false match rate", "false non-match rate"]);
        draw(svg, "path", { fill: "none", stroke: BLUE, "stroke-width": 2, d: path(run.curve, right.X, right.Y) });
        draw(svg, "circle", { cx: right.X(run.falseMatch), cy: right.Y(run.falseNonMatch), r: 6, fill: ORANGE });
        return `false match ${round(run.falseMatch)}, false non-match ${round(run.falseNonMatch)}; equal at ${round(run.equal)}`;
      },
    },
    weighing: {
      title: "How three masters weigh an example of a given margin",
      controls: { margin: [-2, 3, .05, -.5] },
      labels: { margin: "margin y·F(x)" },
      paint(svg, settings) {
        const { X, Y } = axes(svg, [50, 16, 360, 200], [-2, 3], [0, 4], ["margin", "weight"]);
        const lines = { exponential: BLUE, logistic: GREEN, mada: ORANGE };
        const names = { exponential: "AdaBoost", logistic: "logistic", mada: "MadaBoost" };
        Object.entries(lines).forEach(([name, colour], k) => {
          const points = range(101).map(i => -2 + i / 20).map(m => [m, Math.min(4, weighing({ margin: m })[name])]);
          draw(svg, "path", { fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": ["", "6 3", "2 3"][k], d: path(points, X, Y) });
          draw(svg, "text", { x: 420, y: 40 + 20 * k, fill: "currentColor", "font-size": 12 }, `${["—", "– –", "···"][k]} ${names[name]}`);
        });
        const w = weighing(settings);
        draw(svg, "path", { stroke: GREY, d: path([[settings.margin, 0], [settings.margin, 4]], X, Y) });
        return Object.entries(names).map(([k, name]) => `${name} ${round(w[k])}`).join(", ");
      },
    },
  };

  // the picture fills its place: cut to what was ever drawn in it, words no smaller than they can be read
  function fit(svg, area) {
    const box = svg.getBBox();
    if (!box.width) return;
    area[0] = Math.min(area[0], box.x);
    area[1] = Math.min(area[1], box.y);
    area[2] = Math.max(area[2], box.x + box.width);
    area[3] = Math.max(area[3], box.y + box.height);
    const [wide, high] = [area[2] - area[0] + 8, area[3] - area[1] + 8];
    svg.setAttribute("viewBox", `${area[0] - 4} ${area[1] - 4} ${wide} ${high}`);
    svg.style.maxWidth = `${Math.round(1.25 * wide)}px`;
    const scale = svg.clientWidth / wide;
    if (scale) svg.style.setProperty("--words", `${Math.min(17, 12 / Math.min(1, scale)).toFixed(1)}px`);
  }

  // a slider, or a box to tick where there are but two values
  function control(label, [low, high, step, value], change) {
    const row = document.createElement("label");
    const input = document.createElement("input");
    const number = document.createElement("output");
    const ticked = low === 0 && high === 1 && step === 1;
    if (ticked) Object.assign(input, { type: "checkbox", checked: value > 0 });
    else Object.assign(input, { type: "range", min: low, max: high, step, value });
    number.textContent = ticked ? "" : value;
    input.addEventListener("input", () => {
      if (!ticked) number.textContent = input.value;
      change(ticked ? Number(input.checked) : Number(input.value));
    });
    row.append(label + " ", input, number);
    return row;
  }

  function build(place) {
    const name = place.dataset.figure;
    const figure = figures[name];
    if (!figure || place.childElementCount) return;
    const state = {};
    const settings = {};
    const title = document.createElement("p");
    title.className = "live-title";
    title.textContent = figure.title;
    place.appendChild(title);
    const svg = draw(place, "svg", { viewBox: "0 0 520 290", width: "100%",
      role: figure.start ? "group" : "img", "aria-label": figure.title });
    const area = [Infinity, Infinity, -Infinity, -Infinity];
    const said = document.createElement("p");
    said.className = "live-answer";
    said.setAttribute("aria-live", "polite");
    const again = focus => {
      svg.replaceChildren();
      said.textContent = figure.paint(svg, settings, state, again);
      fit(svg, area);
      place.dataset.answer = said.textContent;
      if (focus !== undefined) { const nodes = svg.querySelectorAll("[tabindex]"); if (nodes[focus]) nodes[focus].focus(); }
    };
    const form = document.createElement("div");
    form.className = "live-controls";
    Object.entries(figure.controls).forEach(([key, [low, high, step, value]]) => {
      settings[key] = value;
      const row = control(figure.labels[key], [low, high, step, value], set => { settings[key] = set; again(); });
      row.querySelector("input").name = key;
      form.appendChild(row);
    });
    place.append(form, said);
    again();
  }

  window.boostlitFigures = compute;
  const start = () => document.querySelectorAll(".live[data-figure]").forEach(build);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
