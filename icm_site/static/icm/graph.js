// Draws a memoir over its plain list, and edits it in place. Texts of the memoir are
// only ever set as text, never as markup.
"use strict";

const app = document.getElementById("app");
const words = JSON.parse(document.getElementById("words").textContent);
const part = (id) => document.getElementById(id);
const COLOURS = [[0.8, "#4CAF50"], [0.5, "#FFC107"], [0.3, "#FF9800"], [0, "#F44336"]];
const colour = (confidence) => COLOURS.find(([least]) => confidence >= least)[1];
let graph = { concepts: [], links: [] };
let chosen = null;
let undo = null;
let cy = null;

function isDark() {
  const theme = document.documentElement.dataset.theme;
  if (theme === "dark" || theme === "light") return theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function look() {
  const ink = isDark() ? "#e5e7ef" : "#1f2433";
  const quiet = isDark() ? "#6b7396" : "#a3abc2";
  return [
    { selector: "node", style: {
      "background-color": (n) => colour(n.data("confidence")), label: "data(name)",
      color: ink, "font-size": 11, "text-valign": "bottom", "text-margin-y": 4,
      width: 26, height: 26, "min-zoomed-font-size": 7, "text-max-width": 120,
      "text-wrap": "ellipsis", "border-width": 1, "border-color": quiet } },
    { selector: "edge", style: {
      width: 1.4, "line-color": quiet, "target-arrow-color": quiet,
      "target-arrow-shape": "triangle", "curve-style": "bezier", "arrow-scale": 0.8,
      label: "data(relation)", "font-size": 8, color: ink, "text-rotation": "autorotate",
      "min-zoomed-font-size": 9, "text-opacity": 0.8 } },
    { selector: ".found", style: {
      "border-width": 4, "border-color": "#6366f1", "min-zoomed-font-size": 0, "font-size": 17 } },
    { selector: ".faded", style: { opacity: 0.15 } },
    { selector: ":selected", style: {
      width: 44, height: 44, "border-width": 5, "border-color": "#6366f1", "z-index": 9,
      "min-zoomed-font-size": 0, "font-size": 20, "line-color": "#6366f1",
      "target-arrow-color": "#6366f1" } },
  ];
}

function say(text, back) {
  part("status").textContent = text || "";
  undo = back || null;
  part("undo").hidden = !back;
}

async function send(body, done) {
  let answer, data;
  say("…");
  try {
    answer = await fetch(app.dataset.write, {
      method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "X-CSRFToken": app.dataset.token },
    });
    data = await answer.json();
  } catch {
    say(words.lost);
    return false;
  }
  if (!answer.ok) {
    say(data.error);
    return false;
  }
  graph = data;
  draw();
  say(data.note || done || words.saved, data.undo && { act: "undo", undo: data.undo });
  return true;
}

function elements() {
  return [
    ...graph.concepts.map((c) => ({ group: "nodes", data: { ...c } })),
    ...graph.links.map((l) => ({ group: "edges", data: { ...l } })),
  ];
}

// Adds, changes and removes what differs, so that everything else stays in its place.
function draw() {
  const wanted = new Map(elements().map((e) => [e.data.id, e]));
  const fresh = [];
  cy.batch(() => {
    cy.elements().filter((e) => !wanted.has(e.id())).remove();
    for (const [id, element] of wanted) {
      const old = cy.getElementById(id);
      if (old.length) old.data(element.data);
      else fresh.push(element);
    }
    const middle = cy.extent();
    for (const element of fresh.filter((e) => e.group === "nodes")) {
      element.position = { x: (middle.x1 + middle.x2) / 2, y: (middle.y1 + middle.y2) / 2 };
    }
    cy.add(fresh);
  });
  fillLists();
  filter();
  show(graph.concepts.find((c) => chosen && c.id === chosen.id) || null);
}

function options(select, names, first) {
  const value = select.value;
  select.replaceChildren(...(first ? [first] : []), ...names.map((name) => {
    const option = document.createElement("option");
    option.value = name;
    option.textContent = name;
    return option;
  }));
  if (names.includes(value)) select.value = value;
}

function fillLists() {
  options(part("names"), graph.concepts.map((c) => c.name));
  const labels = [...new Set(graph.concepts.flatMap((c) => c.labels))].sort();
  options(part("by-label"), labels, part("by-label").options[0]);
}

function filter() {
  const text = part("find").value.trim().toLowerCase();
  const relation = part("by-relation").value;
  const label = part("by-label").value;
  let found = cy.collection();
  cy.batch(() => {
    cy.elements().removeClass("faded found");
    if (relation) {
      const links = cy.edges().filter((e) => e.data("relation") === relation);
      cy.elements().not(links.union(links.connectedNodes())).addClass("faded");
    }
    if (label) cy.nodes().filter((n) => !n.data("labels").includes(label)).addClass("faded");
    if (text) {
      found = cy.nodes().filter((n) =>
        `${n.data("name")} ${n.data("definition")}`.toLowerCase().includes(text));
      cy.elements().not(found).addClass("faded");
      found.addClass("found");
    }
  });
  if (text) say(found.length ? `${found.length} ${words.found}` : words.none);
  return found;
}

function show(concept) {
  chosen = concept;
  part("concept").hidden = part("links").hidden = !concept;
  if (!concept) return;
  part("concept-title").textContent = concept.name;
  const fields = part("concept").elements;
  fields.name.value = concept.name;
  fields.definition.value = concept.definition;
  fields.labels.value = concept.labels.join(", ");
  fields.confidence.value = concept.confidence.toFixed(2);
  const touching = graph.links.filter((l) => [l.source, l.target].includes(concept.id));
  part("links").querySelector("ul").replaceChildren(...touching.map((l) => row(l, concept)));
}

function row(link, concept) {
  const names = new Map(graph.concepts.map((c) => [c.id, c.name]));
  const item = document.createElement("li");
  const away = link.source === concept.id;
  const text = document.createElement("span");
  text.textContent = (away ? "→ " : "← ") + names.get(away ? link.target : link.source);
  const kind = part("add-link").elements.relation.cloneNode(true);
  kind.value = link.relation;
  kind.addEventListener("change", () =>
    send({ act: "retype", link: link.id, relation: kind.value }).then((ok) => {
      if (!ok) kind.value = link.relation;
    }));
  const gone = document.createElement("button");
  gone.type = "button";
  gone.className = "btn";
  gone.textContent = "✕";
  gone.title = words.delete;
  gone.addEventListener("click", () => send({ act: "unlink", link: link.id }, words.deleted));
  item.append(text, kind, gone);
  return item;
}

function named(name) {
  const found = graph.concepts.find((c) => c.name === name);
  if (!found) say(words.none);
  return found;
}

function onSubmit(id, work) {
  part(id).addEventListener("submit", (event) => {
    event.preventDefault();
    work(event.target.elements, event.target);
  });
}

function listen() {
  for (const id of ["by-relation", "by-label"]) part(id).addEventListener("change", filter);
  part("find").addEventListener("input", filter);
  part("find").addEventListener("change", () => {
    const found = filter();
    if (found.length) cy.animate({ fit: { eles: found, padding: 90 }, duration: 250 });
    if (found.length) {
      cy.elements().unselect();
      found[0].select();
    }
  });
  const zoom = (factor) => cy.zoom({
    level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  part("closer").addEventListener("click", () => zoom(1.3));
  part("farther").addEventListener("click", () => zoom(1 / 1.3));
  part("fit").addEventListener("click", () => cy.fit(undefined, 30));
  part("arrange").addEventListener("click", () => arrange(true));
  part("undo").addEventListener("click", () => undo && send(undo));
  part("remove").addEventListener("click", () =>
    send({ act: "remove", concept: chosen.id }, words.deleted));
  onSubmit("concept", (f) => send({
    act: "edit", concept: chosen.id, name: f.name.value, definition: f.definition.value,
    labels: f.labels.value, confidence: Number(f.confidence.value) }));
  onSubmit("add-link", async (f, form) => {
    const target = named(f.target.value);
    const relation = f.relation.value;
    if (target && await send({ act: "link", source: chosen.id, target: target.id, relation })) {
      form.reset();
    }
  });
  onSubmit("merge", async (f, form) => {
    const into = named(f.into.value);
    if (!into) return;
    const gone = chosen;
    chosen = into;
    if (await send({ act: "merge", concept: gone.id, into: into.id })) form.reset();
    else chosen = gone;
  });
  onSubmit("add", async (f, form) => {
    const body = { act: "add", name: f.name.value, definition: f.definition.value };
    if (await send(body)) {
      form.reset();
      cy.getElementById(graph.concepts.at(-1).id).select();
    }
  });
  cy.on("select", "node", (event) => {
    show(graph.concepts.find((c) => c.id === event.target.id()) || null);
  });
  cy.on("tap", (event) => {
    if (event.target === cy) show(null);
  });
  const restyle = () => cy.style(look());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  new MutationObserver(restyle).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

function arrange(moving) {
  cy.layout({
    name: "cose", animate: moving ? "end" : false, randomize: !moving, padding: 30,
    nodeRepulsion: 9000, idealEdgeLength: 60, numIter: 250, componentSpacing: 60,
  }).run();
}

async function start() {
  const answer = await fetch(app.dataset.read);
  graph = await answer.json();
  app.hidden = false;
  part("plain").hidden = true;
  cy = cytoscape({
    container: part("graph"), elements: elements(), style: look(), pixelRatio: 1,
    minZoom: 0.05, maxZoom: 4, selectionType: "single",
  });
  app.cy = cy;
  listen();
  fillLists();
  arrange(false);
  app.dataset.ready = "1";
}

start();
