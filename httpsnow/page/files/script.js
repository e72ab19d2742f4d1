"use strict";
// Puts what the server has now in the place of what is shown. Without scripts the page loads itself again.
const byId = (id) => document.getElementById(id);
const live = byId("live");
const every = Number(live.dataset.every);
let chosen = null; // the cell whose details are shown: its namespace's id and its place
let timer = 0, asked = 0;
byId("updates").hidden = false;

function say() {
  const alarm = byId("alarm");
  document.title = alarm.dataset.title;
  if (byId("said").textContent !== alarm.dataset.said) byId("said").textContent = alarm.dataset.said; // or it is read again and again
}

// What has the focus, in a way that finds it again after an update: its place in what has an id, such as its row.
function focused() {
  const at = document.activeElement;
  if (!live.contains(at)) return null;
  const home = at.closest("[id]"), kind = at.tagName;
  return { home: home.id, kind, place: [...home.querySelectorAll(kind)].indexOf(at) };
}

function focusAgain(old) {
  const home = old && byId(old.home);
  if (!home) return;
  const at = old.place < 0 ? home : home.querySelectorAll(old.kind)[old.place];
  if (at && at.closest(".grid")) return; // the chosen cell is put right below
  at?.focus({ preventScroll: true });
}

// Cells: one of each grid is a tab stop, and the arrow keys go from there to all others.
function ready() {
  for (const grid of live.querySelectorAll(".grid")) {
    const first = grid.querySelector(".late") || grid.querySelector("a") || grid.firstElementChild;
    for (const a of grid.querySelectorAll("a")) a.tabIndex = -1;
    if (first) first.tabIndex = 0;
    grid.nextElementSibling.hidden = false;
  }
}

function label(grid, place) {
  const cell = grid.children[place];
  if (cell.title) return cell.title;
  const each = Number(grid.dataset.each);
  return each === 1 ? place + " free" : place * each + "–" + (place * each + each - 1) + " free";
}

function choose(grid, place, focus) {
  const cell = grid.children[place];
  if (!cell) return;
  live.querySelectorAll(".grid .chosen").forEach((c) => c.classList.remove("chosen"));
  for (const c of grid.querySelectorAll("[tabindex='0']")) c.tabIndex = -1;
  cell.tabIndex = 0;
  cell.classList.add("chosen");
  if (!cell.title) { cell.setAttribute("role", "img"); cell.setAttribute("aria-label", label(grid, place)); }
  const detail = grid.nextElementSibling;
  detail.replaceChildren(label(grid, place) + " ");
  if (cell.hash) {
    const go = document.createElement("a");
    go.href = cell.hash;
    go.textContent = "in the list";
    detail.append(go);
  }
  chosen = { id: grid.closest("article").id, place };
  if (focus) cell.focus({ preventScroll: true });
}

const placeOf = (cell) => [...cell.parentElement.children].indexOf(cell);
const cellOf = (event) => event.target.closest?.(".grid > *");
live.addEventListener("click", (event) => {
  const cell = cellOf(event);
  if (!cell) return;
  event.preventDefault();
  choose(cell.parentElement, placeOf(cell), true);
});
live.addEventListener("focusin", (event) => {
  const cell = cellOf(event);
  if (cell && !cell.classList.contains("chosen")) choose(cell.parentElement, placeOf(cell), false);
});
live.addEventListener("keydown", (event) => {
  const cell = cellOf(event);
  if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
  const grid = cell.parentElement, here = placeOf(cell), columns = getComputedStyle(grid).gridTemplateColumns.split(" ").length;
  const to = { ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - columns, ArrowDown: here + columns, Home: 0, End: grid.children.length - 1 }[event.key];
  if (event.key === "Enter" && cell.hash) { location.hash = cell.hash; event.preventDefault(); }
  if (to === undefined) return;
  event.preventDefault();
  choose(grid, to, true);
});

async function update() {
  clearTimeout(timer);
  const mine = ++asked;
  if (byId("run").checked && !document.hidden) {
    try {
      const answer = await fetch("live" + location.search, { cache: "no-store", signal: AbortSignal.timeout(15000) });
      if (!answer.ok) throw new Error(answer.status);
      const text = await answer.text();
      if (mine !== asked) return; // the filter was changed meanwhile
      const next = new DOMParser().parseFromString(text, "text/html");
      const scrolled = [...live.querySelectorAll(".scroll")].map((s) => s.scrollLeft), old = focused(), inGrid = document.activeElement.closest(".grid") !== null;
      live.replaceChildren(...next.body.childNodes);
      live.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] || 0; });
      ready();
      const grid = chosen && byId(chosen.id)?.querySelector(".grid");
      if (grid) choose(grid, chosen.place, inGrid);
      focusAgain(old);
      say();
      byId("lost").hidden = true;
    } catch {
      byId("lost").hidden = false;
      document.title = "(no answer) snow";
    }
  }
  if (mine === asked) timer = setTimeout(update, every);
}

byId("filter").querySelector("button").hidden = true;
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("q").addEventListener("input", () => {
  const query = new URLSearchParams(location.search);
  query.set("q", byId("q").value);
  if (!byId("q").value) query.delete("q");
  history.replaceState(null, "", location.pathname + (query.size ? "?" + query : ""));
  clearTimeout(timer);
  timer = setTimeout(update, 150);
});

ready();
say();
timer = setTimeout(update, every);
