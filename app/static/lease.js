// Counts a lease down, and extends it while the page is really used.  Also counts active seconds.
document.addEventListener("DOMContentLoaded", () => {
  const BEAT_MS = 60_000, ACTIVE_MS = 60_000, SOON_S = 300;
  const form = document.querySelector("[data-save]");
  let lastUse = Date.now();
  for (const event of ["keydown", "pointerdown", "pointermove", "scroll"]) {
    document.addEventListener(event, () => { lastUse = Date.now(); }, { passive: true, capture: true });
  }
  const isUsed = () => !document.hidden && Date.now() - lastUse < ACTIVE_MS;

  function show(place) {
    const left = Math.round((new Date(place.dataset.until) - Date.now()) / 1000);
    place.classList.toggle("soon", left < SOON_S);
    if (left <= 0) { place.textContent = "no longer held; a submit still keeps your review"; return; }
    place.textContent = `yours for ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }

  async function beat(place) {
    if (!isUsed() || !form) return;
    const body = new URLSearchParams({ csrf_token: form.csrf_token.value, token: form.token.value });
    try {
      const answer = await fetch(place.dataset.heartbeat, { method: "POST", body, headers: { Accept: "application/json" } });
      if (answer.ok) place.dataset.until = (await answer.json()).lease_until;
      else if (answer.status === 410) place.dataset.until = new Date(0).toISOString();
    } catch { /* the countdown goes on and says the truth by itself */ }
  }

  const places = [...document.querySelectorAll("[data-until]")];
  places.forEach(show);
  setInterval(() => {
    places.forEach(show);
    if (form && isUsed()) form.active_seconds.value = Number(form.active_seconds.value) + 1;
  }, 1000);
  for (const place of places) if (place.dataset.heartbeat) setInterval(() => beat(place), BEAT_MS);
});
