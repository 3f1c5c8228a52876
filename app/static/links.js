// Picking ranges by key or pointer.  What is picked stands in the fields of a plain form; the person's
// own key for it, `l` unless they chose another, sends it.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("link-form");
  if (!form) return;
  const announce = (text) => { document.getElementById("announce").textContent = text; };
  const panes = { left: pane("left"), right: pane("right") };

  function pane(side) {
    const place = document.querySelector(`[data-side=${side}]`);
    return { side, box: place.querySelector(".scroll"), lines: [...place.querySelectorAll("tr[data-line]")], from: null, at: null };
  }

  const paneOf = (target) => panes[target.closest?.("[data-side]")?.dataset.side];

  function draw(one) {
    const [start, end] = [one.from, one.at].sort((a, b) => a - b);
    one.lines.forEach((line, n) => {
      line.classList.toggle("picked", n >= start && n <= end);
      line.classList.toggle("cursor", n === one.at);
    });
    form.elements[`${one.side}_start`].value = start + 1;
    form.elements[`${one.side}_end`].value = end + 1;
    announce(`${one.side === "left" ? "Source" : "Target"}: line ${start + 1}${end > start ? ` to ${end + 1}` : ""}`);
  }

  function pick(one, at, extends_) {
    one.at = Math.max(0, Math.min(one.lines.length - 1, at));
    if (!extends_ || one.from === null) one.from = one.at;
    draw(one);
    one.lines[one.at].scrollIntoView({ block: "nearest" });
  }

  function move(one, step, extends_) {
    pick(one, one.at === null ? 0 : one.at + step, extends_);
  }

  // What was typed as numbers is shown in the panes, too.
  form.addEventListener("input", (event) => {
    const one = panes[event.target.name.split("_")[0]];
    if (!one || !/_(start|end)$/.test(event.target.name)) return;
    const [start, end] = ["start", "end"].map((name) => Number(form.elements[`${one.side}_${name}`].value));
    one.lines.forEach((line, n) => line.classList.toggle("picked", start > 0 && n + 1 >= start && n + 1 <= (end || start)));
  });

  document.addEventListener("click", (event) => {
    const line = event.target.closest(".ln")?.closest("tr[data-line]");
    const one = line && paneOf(line);
    if (!one || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    pick(one, one.lines.indexOf(line), event.shiftKey);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    const one = paneOf(event.target);
    const acts = { ArrowDown: () => move(one, 1, event.shiftKey), ArrowUp: () => move(one, -1, event.shiftKey), ArrowLeft: () => panes.left.box.focus(), ArrowRight: () => panes.right.box.focus() };
    if (event.key === form.dataset.key) { event.preventDefault(); form.requestSubmit(); return; }
    if (!one || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
});
