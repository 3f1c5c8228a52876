// Citing evidence, and the feedback assembled from the reviewer's own words.
// Every field is a plain form field; this file only makes them quicker to fill.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("rubric");
  if (!form) return;

  const announce = (text) => { document.getElementById("announce").textContent = text; };
  const touched = (field) => field.dispatchEvent(new Event("input", { bubbles: true }));
  const criteria = () => [...form.querySelectorAll("fieldset.criterion")];
  const current = () => form.querySelector(".criterion.current") || criteria()[0];

  function makeCurrent(criterion) {
    criteria().forEach((other) => other.classList.toggle("current", other === criterion));
  }

  function drawChips(place) {
    const input = place.querySelector("input");
    place.querySelectorAll(".chip").forEach((chip) => chip.remove());
    for (const cell of input.value.split(/[\s,]+/).filter(Boolean)) place.insertBefore(chip(cell, input, place), place.querySelector(".none-cited"));
  }

  function chip(cell, input, place) {
    const shown = Object.assign(document.createElement("span"), { className: "chip" });
    const link = Object.assign(document.createElement("a"), { href: `#${cell}`, textContent: cell });
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    remove.setAttribute("aria-label", `Remove ${cell}`);
    remove.addEventListener("click", () => {
      input.value = input.value.split(/[\s,]+/).filter((other) => other && other !== cell).join(" ");
      drawChips(place);
      touched(input);
    });
    shown.append(link, remove);
    return shown;
  }

  function cite(button) {
    const row = current().id === "comments" && (form.querySelector(".comment-row.current") || form.querySelector(".comment-row"));
    if (row) return citeInComment(button, row);
    const criterion = current().dataset.key ? current() : criteria()[0];
    const place = criterion.querySelector("[data-chips]");
    const input = place.querySelector("input");
    const cells = input.value.split(/[\s,]+/).filter(Boolean);
    if (!cells.includes(button.dataset.cite)) input.value = [...cells, button.dataset.cite].join(" ");
    drawChips(place);
    quote(criterion.querySelector("textarea"), button.dataset.label);
    touched(input);
    announce(`Cited ${button.dataset.label} in ${criterion.querySelector("legend span").textContent}`);
  }

  function citeInComment(button, row) {
    const cells = row.querySelector('[name="comment.evidence"]');
    cells.value = [...new Set([...cells.value.split(/[\s,]+/).filter(Boolean), button.dataset.cite])].join(" ");
    quote(row.querySelector("textarea"), button.dataset.label);
    row.querySelector("details").open = true;
    touched(cells);
    announce(`Cited ${button.dataset.label} in the comment`);
  }

  // The words go where a low score must be explained; a text that is there already is only added to.
  function quote(box, label) {
    if (box.value.includes(label)) return;
    box.value = box.value ? `${box.value.trimEnd()} [${label}]` : `[${label}] `;
  }

  function propose(button) {
    const criterion = document.getElementById(`criterion-${button.dataset.propose}`);
    criterion.querySelector("input[value=cannot_judge]").checked = true;
    const box = criterion.querySelector("textarea");
    box.value = box.value || button.dataset.reason;
    touched(box);
    announce("Cannot judge, with the reason filled in");
  }

  // The server puts it together, and without this script keeps it too.
  async function assemble(button) {
    const box = document.getElementById("feedback-text");
    const answer = await fetch(button.formAction, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
    if (!answer.ok) { announce("Not assembled: the server did not answer"); return; }
    const { feedback } = await answer.json();
    announce(feedback === box.value ? "Nothing new to put together yet" : "Put together from your scores and comments");
    box.value = feedback;
    touched(box);
    box.focus();
  }

  function insert(text) {
    const box = document.getElementById("feedback-text");
    box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
    touched(box);
    box.focus();
  }

  form.querySelectorAll("[data-chips]").forEach(drawChips);
  makeCurrent(criteria()[0]);
  form.addEventListener("focusin", (event) => {
    const criterion = event.target.closest("fieldset.criterion");
    if (criterion) makeCurrent(criterion);
    const row = event.target.closest(".comment-row");
    if (row) form.querySelectorAll(".comment-row").forEach((other) => other.classList.toggle("current", other === row));
  });
  // What was missing is no longer said once its place is being filled.
  form.addEventListener("input", (event) => event.target.closest("fieldset")?.querySelector(".problem")?.remove());
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.cite) cite(button);
    if (button.dataset.propose) propose(button);
    if (button.dataset.insert) insert(button.dataset.insert);
    if (button.id === "assemble") { event.preventDefault(); assemble(button); }
  });
  window.workbench = { ...window.workbench, cite, current, makeCurrent, propose };
  document.getElementById("refusal")?.focus();
});
