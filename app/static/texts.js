// Texts to insert where one writes: a list with this submission's figures, searched and chosen by key.
// What is not known here is a gap, and the first gap is selected once the text stands in its box.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("rubric"), dialog = document.getElementById("texts");
  if (!form || !dialog) return;
  const find = document.getElementById("texts-find"), list = document.getElementById("texts-list");
  const count = document.getElementById("texts-count");
  const GAP = /\[\w+: (?:not known here|no such name)\]/;
  let offers = null, shown = [], at = 0, box = null, caret = [0, 0];

  const announce = (text) => { document.getElementById("announce").textContent = text; };
  const inForm = (target) => (target?.matches?.("textarea") && form.contains(target) ? target : null);
  const boxOf = (place) => place?.closest(".comment-row, fieldset.criterion")?.querySelector("textarea");
  const current = () => boxOf(form.querySelector(".criterion.current .comment-row.current") || window.workbench.current());

  async function open(target) {
    box = target || inForm(document.activeElement) || current() || document.getElementById("feedback-text");
    offers = offers || await fetched();
    if (!offers) { announce("The texts could not be fetched: the server did not answer"); return; }
    caret = [box.selectionStart, box.selectionEnd];
    find.value = "";
    draw();
    dialog.showModal();
    find.focus();
  }

  async function fetched() {
    try {
      const answer = await fetch(dialog.dataset.from, { headers: { Accept: "application/json" } });
      return answer.ok && !answer.redirected ? await answer.json() : null;
    } catch { return null; }
  }

  const fits = (offer, words) => words.every((word) => `${offer.group} ${offer.title} ${offer.text}`.toLowerCase().includes(word));

  function draw() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = offers.filter((offer) => fits(offer, words));
    list.replaceChildren(...groups());
    count.textContent = shown.length === 1 ? "1 text" : `${shown.length} texts`;
    choose(0);
  }

  function groups() {
    const made = new Map();
    shown.forEach((offer, n) => {
      if (!made.has(offer.group)) made.set(offer.group, group(offer.group));
      made.get(offer.group).append(option(offer, n));
    });
    return [...made.values()];
  }

  function group(title) {
    const made = Object.assign(document.createElement("div"), { role: "group" });
    made.setAttribute("aria-label", title);
    const head = Object.assign(document.createElement("span"), { className: "group-title", textContent: title });
    head.setAttribute("aria-hidden", "true");
    made.append(head);
    return made;
  }

  function option(offer, n) {
    const made = Object.assign(document.createElement("div"), { id: `text-${n}`, role: "option" });
    made.append(Object.assign(document.createElement("b"), { textContent: offer.title }), Object.assign(document.createElement("span"), { textContent: offer.text }));
    made.addEventListener("click", () => insert(offer));
    return made;
  }

  function choose(n) {
    at = Math.max(0, Math.min(shown.length - 1, n));
    list.querySelectorAll("[role=option]").forEach((one, m) => one.setAttribute("aria-selected", String(m === at)));
    const chosen = document.getElementById(`text-${at}`);
    if (chosen) find.setAttribute("aria-activedescendant", chosen.id);
    else find.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  function insert(offer) {
    const before = box.value.slice(0, caret[0]);
    const apart = !before.trim() ? "" : offer.text.includes("\n") ? "\n\n" : /\s$/.test(before) ? "" : " ";
    box.setRangeText(apart + offer.text, ...caret, "end");
    const start = caret[0] + apart.length, gap = offer.text.match(GAP);
    caret = gap ? [start + gap.index, start + gap.index + gap[0].length] : [start + offer.text.length, start + offer.text.length];
    dialog.close();
    box.dispatchEvent(new Event("input", { bubbles: true }));
    announce(offer.gaps.length ? `Inserted; not known here: ${offer.gaps.join(", ")}` : "Inserted");
  }

  const steps = { ArrowDown: () => at + 1, ArrowUp: () => at - 1, PageDown: () => at + 5, PageUp: () => at - 5 };
  find.addEventListener("input", draw);
  find.addEventListener("keydown", (event) => {
    if (steps[event.key]) { event.preventDefault(); choose(steps[event.key]()); }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) { event.preventDefault(); if (shown[at]) insert(shown[at]); }
  });
  // A browser gives the focus back, and not everyone the caret with it.
  dialog.addEventListener("close", () => { box.focus(); box.setSelectionRange(...caret); });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-texts]");
    if (button) open(boxOf(button));
  });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "/" || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    open();
  });
  window.workbench = { ...window.workbench, openTexts: open };
});
