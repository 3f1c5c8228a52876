// `b` goes to the bench where the page has no other keys; never while typing.
document.addEventListener("keydown", (event) => {
  if (event.key !== "b" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.matches("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])")) return;
  const bench = document.getElementById("bench");
  if (!bench || document.getElementById("keys")) return;
  event.preventDefault();
  const target = document.getElementById("bench-target") || document.getElementById("bench-title");
  bench.scrollIntoView({ block: "start" });
  target.focus({ preventScroll: true });
});
