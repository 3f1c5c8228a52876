// A box's words as they will be read, below it, and again a moment after each change.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("rubric");
  if (!form) return;
  const PAUSE_MS = 600;
  const timers = new WeakMap();
  const rowOf = (place) => place.closest(".comment-row, fieldset.criterion");
  const shownIn = (row) => [...row.querySelectorAll(".preview.of-box")].find((one) => rowOf(one) === row);

  async function draw(row, place) {
    const text = row.querySelector("textarea").value;
    const body = new URLSearchParams({ csrf_token: form.csrf_token.value, text });
    try {
      const answer = await fetch(form.dataset.previewAt, { method: "POST", body });
      if (!answer.ok || answer.redirected) throw new Error(answer.status);
      place.innerHTML = await answer.text();
    } catch { place.textContent = "No preview: the server did not answer."; }
  }

  function toggle(button) {
    const row = rowOf(button), open = shownIn(row);
    button.setAttribute("aria-expanded", String(!open));
    if (open) { open.remove(); return; }
    const place = Object.assign(document.createElement("div"), { className: "preview of-box", role: "region" });
    place.setAttribute("aria-label", "Preview");
    row.querySelector("textarea").after(place);
    draw(row, place);
  }

  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-preview]");
    if (button) toggle(button);
  });
  form.addEventListener("input", (event) => {
    const row = event.target.matches("textarea") && rowOf(event.target), place = row && shownIn(row);
    if (!place || row.querySelector("textarea") !== event.target) return;
    clearTimeout(timers.get(place));
    timers.set(place, setTimeout(() => draw(row, place), PAUSE_MS));
  });
});
