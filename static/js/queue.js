// Keys for the queue: j k move, Enter opens, c claims, f filters, / search, ? help. Off while typing, and switchable off.
"use strict";

const OFF = "keys-off";
const help = document.querySelector("[data-keys]");
const links = () => [...document.querySelectorAll(".row-link")];

function move(step) {
  const all = links();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement.closest(".row")?.querySelector(".row-link"));
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1);
  all[next].focus();
}

function claim() {
  document.activeElement.closest(".row")?.querySelector(".claim")?.click();
}

const ACTS = {
  j: () => move(1),
  k: () => move(-1),
  c: claim,
  f: () => document.querySelector(".filters .chip")?.focus(),
  "/": () => document.getElementById("search").focus(),
  "?": () => {
    help.open = !help.open;
    help.querySelector("summary").focus();
  },
};

function typing(target) {
  return target.matches("input, textarea, select, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  if (localStorage.getItem(OFF) || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const act = ACTS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const toggle = help.querySelector("[data-keys-toggle]");
toggle.checked = !localStorage.getItem(OFF);
toggle.addEventListener("change", () => {
  if (toggle.checked) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "yes");
});

const compact = document.querySelector("[data-compact]");
function showDensity() {
  document.querySelector(".rows")?.classList.toggle("compact", compact.checked);
}
compact.checked = localStorage.getItem("compact") === "yes";
compact.addEventListener("change", () => {
  localStorage.setItem("compact", compact.checked ? "yes" : "no");
  showDensity();
});
showDensity();
for (const hidden of document.querySelectorAll("[data-script-only]")) hidden.hidden = false;
