// Small helps for every page. Reading and deciding work without any of them.
"use strict";

// What is wrong, or what was just done, is where the reader continues.
function focusOnOutcome() {
  const outcome = document.querySelector("[data-focus]");
  if (outcome) outcome.focus();
}

// What is typed stays in this tab until it is recorded: a session's end or a lost page loses nothing.
// It is kept for whoever typed it: another person in the same tab never sees it, and signing out forgets it.
function keepDrafts() {
  const who = document.body.dataset.person;
  if (!who) return;
  const prefix = `draft:${who}:`;
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("draft:") && !key.startsWith(prefix)) sessionStorage.removeItem(key);
  }
  for (const form of document.querySelectorAll("form[data-sign-out]")) {
    form.addEventListener("submit", () => sessionStorage.clear());
  }
  for (const field of document.querySelectorAll("[data-draft]")) {
    const key = prefix + field.dataset.draft;
    if (!field.value) field.value = sessionStorage.getItem(key) || "";
    field.addEventListener("input", () => sessionStorage.setItem(key, field.value));
  }
  for (const done of document.querySelectorAll("[data-draft-done]")) {
    sessionStorage.removeItem(prefix + done.dataset.draftDone);
  }
}

function isBegun(form) {
  return form.querySelector("textarea").value !== "" || form.querySelector("input:checked") !== null;
}

// A poll brings a new answer, but takes no form away in which somebody has begun: sent, it is told what changed.
function keepWhatIsBegun() {
  document.body.addEventListener("htmx:oobBeforeSwap", (event) => {
    const form = event.detail.target.querySelector("form.decide");
    if (form && isBegun(form)) event.detail.shouldSwap = false;
  });
}

const WARN_SECONDS = 300;
let sessionEnds = Date.now() + Number(document.body.dataset.sessionEnds || 0) * 1000;

function showExpiry(box) {
  const left = Math.round((sessionEnds - Date.now()) / 1000);
  box.hidden = left > WARN_SECONDS;
  if (box.hidden) return;
  const minutes = Math.max(0, Math.ceil(left / 60));
  const words = minutes === 1 ? "1 minute" : `${minutes} minutes`;
  const place = box.querySelector("[data-expiry-left]");
  if (place.textContent !== words) place.textContent = words;
}

async function stay(event, box) {
  event.preventDefault();
  const form = event.target;
  const answer = await fetch(form.action, {
    method: "POST",
    body: new FormData(form),
    headers: { "X-Requested-With": "fetch" },
  });
  if (answer.status !== 204) return form.submit();
  sessionEnds = Date.now() + Number(box.dataset.expiry) * 1000;
  showExpiry(box);
}

function warnOfExpiry() {
  const box = document.querySelector("[data-expiry]");
  if (!box) return;
  showExpiry(box);
  setInterval(() => showExpiry(box), 10000);
  box.querySelector("[data-stay]").addEventListener("submit", (event) => stay(event, box));
}

// A second press of the button that records does nothing; the server would record once anyway.
function sendOnce() {
  for (const form of document.querySelectorAll("form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
    });
  }
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-once]")) delete form.dataset.sent;
  });
}

focusOnOutcome();
keepDrafts();
keepWhatIsBegun();
warnOfExpiry();
sendOnce();
