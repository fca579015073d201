// Drag and drop onto the upload form. Without this the file field does the same.
"use strict";

const zone = document.querySelector("[data-drop]");
const input = zone.querySelector("input[type=file]");
const name = zone.querySelector("[data-drop-name]");
const most = Number(zone.dataset.drop);

function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  const [unit, word] = bytes < 1024 * 1024 ? [1024, "KiB"] : [1024 * 1024, "MiB"];
  return `${Math.round((bytes / unit) * 10) / 10} ${word}`;
}

function tell() {
  const file = input.files[0];
  if (!file) return;
  const told = `${file.name}, ${sizeOf(file.size)}`;
  name.textContent = file.size > most ? `${told}: larger than the ${zone.dataset.dropMost} a report may have` : told;
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
