// Follows an evaluation: the server says only "changed", and htmx fetches the fragment again.
// When the stream breaks, a slow poll takes over, so that the page never goes stale silently.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector("[data-events]");
  if (!place) return;
  const refresh = () => htmx.trigger(place, "changed");
  const source = new EventSource(place.dataset.events);
  const poll = setInterval(() => { if (source.readyState !== EventSource.OPEN) refresh(); }, 5000);
  // The server says "changed" at once when the stream opens, so nothing before it is lost.
  source.addEventListener("changed", refresh);
  place.addEventListener("htmx:afterSettle", () => {
    if (place.querySelector("[data-live=yes]")) return;
    source.close();
    clearInterval(poll);
  });
});
