"use strict";
// Puts what the server has now in the place of what is shown. Without scripts the page loads itself again.
const live = document.getElementById("live");
const lost = document.getElementById("lost");
const run = document.getElementById("run");
const every = Number(live.dataset.every);
document.getElementById("updates").hidden = false;

async function update() {
  if (run.checked && !document.hidden) {
    try {
      const answer = await fetch("live", { cache: "no-store", signal: AbortSignal.timeout(15000) });
      if (!answer.ok) throw new Error(answer.status);
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      const closed = [...live.querySelectorAll("article")].filter((a) => a.querySelector("details:not([open])")).map((a) => a.dataset.namespace);
      for (const a of next.querySelectorAll("article")) {
        if (closed.includes(a.dataset.namespace)) a.querySelector("details")?.removeAttribute("open");
      }
      const scrolled = [...live.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
      live.replaceChildren(...next.body.childNodes);
      live.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] || 0; });
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    }
  }
  setTimeout(update, every);
}
setTimeout(update, every);
