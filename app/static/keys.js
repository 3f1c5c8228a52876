// The keys of the review page.  Nothing fires while typing, except Ctrl+Enter and Escape.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("rubric");
  if (!form) return;
  const sheet = document.getElementById("keys");
  let hovered = null;

  const isTyping = (target) => target.matches("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])");
  // Where nothing is linked, and seldom would be, the keys go on to the feedback.
  const criteria = () => [...form.querySelectorAll("fieldset.criterion:not(.passed-by)")];
  const citable = () => [...document.querySelectorAll("#evidence .cite[data-cite], .summary .cite[data-cite]")].filter((one) => one.offsetParent);

  function move(step) {
    const all = criteria();
    const target = all[Math.min(all.length - 1, Math.max(0, all.indexOf(window.workbench.current()) + step))];
    window.workbench.makeCurrent(target);
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
  }

  function pick(key) {
    const criterion = window.workbench.current();
    const radios = [...criterion.querySelectorAll("input[type=radio]")];
    const chosen = criterion.dataset.key ? radios.find((one) => one.value === String(key - 1)) : radios[key - 1];
    if (!chosen) return;
    chosen.checked = true;
    chosen.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function confirmProposal() {
    const button = window.workbench.current().querySelector("[data-propose]");
    if (button) window.workbench.propose(button);
  }

  function write() {
    window.workbench.current().querySelector("textarea")?.focus();
  }

  // The evidence under the focus; else under the pointer; else nothing, and that is said.
  function citeHere() {
    const at = (place) => place?.closest("tr, article, h2, dt, li, p")?.querySelector(".cite[data-cite]");
    const button = at(document.activeElement) || at(hovered);
    if (button) window.workbench.cite(button);
    else document.getElementById("announce").textContent = "Nothing to cite here: move to a piece of evidence first";
  }

  function panel(step) {
    const titles = [...document.querySelectorAll(".panel > h2[tabindex]")];
    const here = titles.findIndex((title) => title.parentElement.contains(document.activeElement));
    const target = titles[here < 0 ? (step > 0 ? 0 : titles.length - 1) : Math.min(titles.length - 1, Math.max(0, here + step))];
    target?.focus();
    target?.scrollIntoView({ block: "start" });
  }

  function show(place, focus = place) {
    document.querySelector(focus)?.focus({ preventScroll: true });
    document.querySelector(place)?.scrollIntoView({ block: "start" });
  }

  const panelNamed = (name) => show(`#panel-${name}`, `#panel-${name}-title`);

  function questions() {
    const all = document.getElementById("questions");
    if (!all) return;
    all.open = !all.open;
    all.querySelector("summary").focus();
  }

  function evidence(step) {
    const all = citable();
    const here = all.indexOf(document.activeElement);
    const after = all.findIndex((one) => document.activeElement.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    const target = here >= 0 ? all[here + step] : all[step > 0 ? Math.max(0, after) : Math.max(0, after - 1)];
    target?.focus();
    return Boolean(target);
  }

  // The line under the focus, the pointer, or the address (#solution-py-L12).
  const lineHere = () => window.workbench.lineOf && (window.workbench.lineOf(document.activeElement) || window.workbench.lineOf(hovered) || document.querySelector("tr[data-line]:target"));

  function commentLine() {
    const row = lineHere();
    if (row) window.workbench.addComment(window.workbench.fileOf(row), row.dataset.line);
    else document.getElementById("announce").textContent = "No line here: follow a line number first";
  }

  // In the rubric `c` is the rationale, wherever the pointer happens to rest.
  function comment(inRubric) {
    if (!inRubric && lineHere()) commentLine();
    else write();
  }

  function leave(target) {
    const criterion = target.closest("fieldset.criterion");
    target.blur();
    criterion?.focus({ preventScroll: true });
  }

  const acts = {
    next: () => move(1), previous: () => move(-1), write: comment, comment: commentLine, cite: citeHere, confirm: confirmProposal,
    "panel-before": () => panel(-1), "panel-after": () => panel(1), questions,
    numerics: () => panelNamed("correctness"), builds: () => panelNamed("compile"), integrity: () => panelNamed("integrity"),
    sanitizers: () => panelNamed("sanitize"), benchmark: () => panelNamed("benchmark"), profile: () => panelNamed("profile"),
    environment: () => panelNamed("setting"), feedback: () => show("#feedback"),
    beside: () => document.querySelector(".compare a")?.click(), source: () => document.querySelector("#source .scroll")?.focus(),
    bench: () => show("#bench", document.getElementById("bench-target") ? "#bench-target" : "#bench-title"),
    sheet: () => sheet.showModal(), texts: () => window.workbench.openTexts(),
  };
  // Each person's own keys, from their account.
  const keyOf = JSON.parse(sheet.dataset.keys);
  const actOf = Object.fromEntries(Object.entries(keyOf).map(([action, key]) => [key, acts[action]]));
  const repeats = [keyOf.next, keyOf.previous];
  const actFor = (key) => (/^[1-7]$/.test(key) ? () => pick(Number(key)) : actOf[key]);

  document.addEventListener("pointerover", (event) => { hovered = event.target; });
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      event.preventDefault();
      form.requestSubmit(document.getElementById("submit-next"));
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") leave(event.target);
      // Enter in a line of text would press the form's first button; a review is submitted on purpose.
      if (event.key === "Enter" && event.target.matches("input") && form.contains(event.target)) event.preventDefault();
      return;
    }
    const inRubric = form.contains(event.target);
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest("#evidence, .summary") && !event.target.closest(".scroll[tabindex]:focus")) {
      if (evidence(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
      return;
    }
    if (event.target.matches("summary, a") && event.key === "Enter") return;
    const act = actFor(event.key);
    if (!act || (event.repeat && !repeats.includes(event.key))) return;
    event.preventDefault();
    act(inRubric);
  });
});
