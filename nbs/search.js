// How the search ranks: every word counts by how rare it is, most in a title, then in a heading or a public
// name, then in the text; pages that have all words of a question come before pages that have some.
(function (root) {
  "use strict";
  const FIELDS = { title: 6, section: 5, text: 2 };

  const stem = word => word.length > 4 ? word.replace(/ies$/, "y").replace(/([^su])s$/, "$1") : word;

  // closed_itemsets and LPBoostClassifier are words, and so are their parts; multi-class is also multiclass
  function words(text) {
    const whole = text.match(/[\p{L}\p{N}_]+/gu) || [];
    const parts = whole.flatMap(w => w.replace(/([a-z])(?=[A-Z])/g, "$1_").split("_"));
    const joined = (text.match(/\p{L}+-\p{L}+/gu) || []).map(w => w.replace("-", ""));
    return new Set([...whole, ...parts, ...joined].filter(Boolean).map(w => stem(w.toLowerCase())));
  }

  // how well a word of the book answers a word of a question
  function likeness(asked, word) {
    if (asked === word) return 1;
    if (asked.length > 2 && word.startsWith(asked)) return .6;
    let same = 0;
    while (same < asked.length && asked[same] === word[same]) same++;
    return same > 5 && same >= .7 * Math.max(asked.length, word.length) ? .5 : 0;
  }

  // word -> [row, weight] of all places
  function indexed(rows) {
    const places = new Map();
    rows.forEach((row, at) => Object.entries(FIELDS).forEach(([field, weight]) => words(row[field] || "").forEach(word => {
      if (!places.has(word)) places.set(word, []);
      places.get(word).push([at, weight]);
    })));
    return places;
  }

  // what a word of the question is worth in every row that has it
  function worth(asked, places, n) {
    const best = new Map();
    places.forEach((list, word) => {
      const like = likeness(asked, word);
      if (like) list.forEach(([at, weight]) => best.set(at, Math.max(best.get(at) || 0, like * weight)));
    });
    const rare = Math.log(1 + n / (1 + best.size));
    best.forEach((value, at) => best.set(at, value * rare));
    return best;
  }

  const page = row => row.href.split("#")[0];

  function ranked(rows, places, query) {
    const asked = [...words(query.replace(/-/g, " "))];
    const own = rows.map(() => 0), pages = new Map();
    asked.forEach(word => {
      const here = new Map();
      worth(word, places, rows.length).forEach((value, at) => {
        own[at] += value;
        here.set(page(rows[at]), Math.max(here.get(page(rows[at])) || 0, value));
      });
      here.forEach((value, name) => {
        const [sum, count] = pages.get(name) || [0, 0];
        pages.set(name, [sum + value, count + 1]);
      });
    });
    const phrase = [...words(query)].join(" ");
    const score = (row, at) => {
      if (!own[at]) return 0;
      const [sum, count] = pages.get(page(row));
      const titled = [...words(row.title)].join(" ") === phrase ? 2 : 1;
      const said = (row.section || "").toLowerCase().includes(query.trim().toLowerCase()) ? 1.3 : 1;
      return (own[at] + .7 * sum) * Math.pow(count / asked.length, 2) * titled * said * (row.section ? 1 : 1.1);
    };
    return rows.map((item, at) => ({ item, refIndex: at, score: score(item, at) }))
      .filter(found => found.score > 0).sort((a, b) => b.score - a.score || a.refIndex - b.refIndex);
  }

  if (typeof module !== "undefined") module.exports = { indexed, ranked };
  if (!root.Fuse) return;
  const known = new WeakMap();
  root.Fuse.prototype.search = function (query, options) {
    const rows = this._docs;
    if (!known.has(this) || known.get(this)[0] !== rows.length) known.set(this, [rows.length, indexed(rows)]);
    return ranked(rows, known.get(this)[1], query).slice(0, (options && options.limit) || 30);
  };
})(typeof window === "undefined" ? {} : window);
