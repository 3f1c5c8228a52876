// `b` goes to the bench, wherever one is; never while typing.
document.addEventListener("keydown", (event) => {
  if (event.key !== "b" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.matches("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])")) return;
  const bench = document.getElementById("bench");
  if (!bench || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  const target = document.getElementById("bench-target") || document.getElementById("bench-title");
  bench.scrollIntoView({ block: "start" });
  target.focus({ preventScroll: true });
});
