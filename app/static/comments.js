// Comments on the source: a click on a line number, a drag over several, or `c` on a line opens a box for one.
// What is typed stands at its lines at once.  Every field is a plain field of the review's form.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("rubric");
  if (!form) return;
  const source = document.getElementById("source");
  let from = null;

  const rows = () => [...form.querySelectorAll(".comment-row")];
  const field = (row, name) => row.querySelector(`[name="comment.${name}"]`);
  const lineOf = (place) => place?.closest?.("tr[data-line]");
  const fileOf = (line) => line.closest("[data-file]").dataset.file;

  function emptyRow() {
    const free = rows().find((row) => !field(row, "body").value.trim());
    if (free) return free;
    const row = rows().at(-1).cloneNode(true);
    const number = rows().length + 1;
    row.id = `comment-${number}`;
    row.querySelectorAll("[id]").forEach((one) => { one.id = one.id.replace(/\d+$/, number); });
    row.querySelectorAll("label").forEach((label) => { label.htmlFor = label.htmlFor.replace(/\d+$/, number); });
    row.querySelectorAll("input, textarea, select").forEach((one) => { one.value = ""; });
    row.querySelector("details").open = false;
    row.querySelector(".preview")?.remove();
    row.querySelector("[data-preview]").setAttribute("aria-expanded", "false");
    rows().at(-1).after(row);
    return row;
  }

  function addComment(path, line, end) {
    const row = emptyRow();
    if (path) field(row, "path").value = path;
    field(row, "line").value = line || "";
    field(row, "end").value = end && end !== line ? end : "";
    field(row, "body").focus();
    row.scrollIntoView({ block: "nearest" });
  }

  function pick(first, last) {
    source.querySelectorAll("tr.picked").forEach((line) => line.classList.remove("picked"));
    if (!first || !last) return;
    const lines = [...first.closest("tbody").querySelectorAll("tr[data-line]")];
    const [start, end] = [lines.indexOf(first), lines.indexOf(last)].sort((a, b) => a - b);
    lines.slice(start, end + 1).forEach((line) => line.classList.add("picked"));
  }

  // Of a range the lower line is where the comment stands, whichever way it was drawn.
  function commentFrom(first, last) {
    const [start, end] = [Number(first.dataset.line), Number(last.dataset.line)].sort((a, b) => a - b);
    addComment(fileOf(first), start, end);
  }

  function draw() {
    source.querySelectorAll("tr.said").forEach((note) => note.remove());
    for (const row of rows()) {
      const [path, line, end, body] = ["path", "line", "end", "body"].map((name) => field(row, name).value.trim());
      const last = Math.max(Number(line), Number(end) || 0);
      const place = body && line && [...source.querySelectorAll("[data-file]")].find((file) => file.dataset.file === path)?.querySelector(`tr[data-line="${last}"]`);
      if (place) place.after(note(row, `${path}:${line}${end && end !== line ? `-${end}` : ""}: ${body.slice(0, 160)}`));
    }
  }

  function note(row, text) {
    const shown = Object.assign(document.createElement("tr"), { className: "note-row said" });
    const cell = document.createElement("td");
    const link = Object.assign(document.createElement("a"), { className: "line-note tone-info", href: `#${row.id}`, textContent: text });
    cell.append(link);
    shown.append(document.createElement("td"), cell);
    return shown;
  }

  source?.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || !event.target.closest(".ln")) return;
    event.preventDefault();
    from = lineOf(event.target);
    pick(from, from);
  });
  source?.addEventListener("pointerover", (event) => {
    const line = from && lineOf(event.target);
    if (line && line.parentElement === from.parentElement) pick(from, line);
  });
  document.addEventListener("pointerup", (event) => {
    if (!from) return;
    const first = from, last = lineOf(event.target);
    from = null;
    commentFrom(first, last && last.parentElement === first.parentElement ? last : first);
  });
  // A pressed pointer has opened the box already; Enter on a line number still goes to the line.
  source?.addEventListener("click", (event) => {
    if (event.detail && !event.ctrlKey && !event.metaKey && event.target.closest(".ln")) event.preventDefault();
  });
  form.addEventListener("input", (event) => { if (event.target.name?.startsWith("comment.")) draw(); });
  document.getElementById("add-comment")?.addEventListener("click", () => addComment());
  source?.addEventListener("htmx:afterSettle", draw);
  if (source) draw();
  window.workbench = { ...window.workbench, addComment, drawComments: draw, lineOf, fileOf };
});
