// Drag and drop onto the upload form. Without this the file field does the same.
"use strict";

const zone = document.querySelector("[data-drop]");
const input = zone.querySelector("input[type=file]");
const name = zone.querySelector("[data-drop-name]");
const most = Number(zone.dataset.drop);

function tell() {
  const file = input.files[0];
  if (!file) return;
  const size = `${Math.ceil(file.size / 1024)} KiB`;
  name.textContent = file.size > most ? `${file.name}, ${size}: larger than a report may be` : `${file.name}, ${size}`;
}

zone.addEventListener("dragover", (event) => {
  event.preventDefault();
  zone.classList.add("over");
});
zone.addEventListener("dragleave", () => zone.classList.remove("over"));
zone.addEventListener("drop", (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  if (!event.dataTransfer.files.length) return;
  input.files = event.dataTransfer.files;
  tell();
});
input.addEventListener("change", tell);
