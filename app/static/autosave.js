// Saves the review as it is typed: to this browser at once, to the server after a pause.
// The save state says one true thing: saved, saving, or not saved and why.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("[data-save]");
  if (!form) return;
  const PAUSE_MS = 700, RETRY_MS = 5000;
  const state = document.getElementById("save-state");
  const contested = document.getElementById("conflict");
  const kept = `review:${form.dataset.review}`;
  let timer = null, saving = null, isDirty = false, leaving = false, theirVersion = null;

  function say(word, text) {
    state.dataset.state = word;
    if (state.textContent !== text) state.textContent = text;
  }

  const typed = () => [...new FormData(form)].filter(([name]) => !["csrf_token", "token", "version"].includes(name) && !name.startsWith("link."));

  function keepHere() {
    try { localStorage.setItem(kept, JSON.stringify({ version: form.version.value, typed: typed() })); return true; } catch { return false; }
  }

  function forget() {
    try { localStorage.removeItem(kept); } catch { /* nothing was kept */ }
  }

  function changed() {
    isDirty = true;
    keepHere();
    if (state.dataset.state !== "conflict") say("saving", "Saving…");
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE_MS);
  }

  async function save() {
    if (saving || leaving) return;
    saving = send();
    await saving;
    saving = null;
    if (isDirty) changed();
  }

  async function send() {
    isDirty = false;
    if (state.dataset.state !== "conflict") say("saving", "Saving…");
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.dataset.save, { method: "POST", body, headers: { Accept: "application/json" } });
      await read(answer);
    } catch {
      failed("no connection");
    }
  }

  const signedOut = () => failed("you are signed out; sign in in another tab");

  // A sign-in in another tab may have changed the token of this page's forms: the page is asked for the new one.
  async function renewed() {
    const answer = await fetch(location.pathname);
    if (answer.redirected) return signedOut();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#rubric [name=csrf_token]")?.value;
    if (!fresh || fresh === form.csrf_token.value) return failed("the server refused it (403)");
    document.querySelectorAll("[name=csrf_token]").forEach((field) => { field.value = fresh; });
    document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRF-Token": fresh }));
    return send();
  }

  async function read(answer) {
    if (answer.status === 401 || answer.redirected) return signedOut();
    if (answer.status === 403) return renewed();
    const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
    const said = isJson ? await answer.json() : null;
    if (said && said.conflict) return conflict(said);
    if (!answer.ok || !said || said.version === undefined) return failed(`the server refused it (${answer.status})`);
    form.version.value = said.version;
    contested.replaceChildren();
    if (!isDirty) { forget(); say("saved", `Saved ${new Date(said.saved_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`); }
  }

  function failed(why) {
    say("failed", `Not saved: ${why}. ${keepHere() ? "Kept in this browser." : "Copy your text."}`);
    clearTimeout(timer);
    timer = setTimeout(save, RETRY_MS);
  }

  function notice(text, buttons) {
    const place = document.getElementById("restore");
    place.replaceChildren();
    place.className = "flash tone-warn";
    place.append(Object.assign(document.createElement("p"), { textContent: text }));
    for (const [label, act] of buttons) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
      button.addEventListener("click", () => { place.hidden = true; act(); });
      place.append(button, " ");
    }
    place.hidden = false;
  }

  // Another page saved meanwhile: both texts are shown, and nothing is saved until somebody says which.
  function conflict(said) {
    say("conflict", "Not saved: changed in another page.");
    const isNews = !contested.firstElementChild;
    contested.innerHTML = said.shown;
    dispute(said.version);
    if (isNews) contested.scrollIntoView({ block: "nearest" });
    else contested.firstElementChild.removeAttribute("role");
  }

  // From here on every save is refused, and answered with the comparison as it is by then.
  function dispute(version) {
    theirVersion = version;
    form.version.value = 0;
  }

  function keepMine() {
    contested.replaceChildren();
    form.version.value = theirVersion;
    say("saving", "Saving…");
    save();
  }

  contested.addEventListener("click", (event) => {
    if (event.target.closest("[data-keep]")) { event.preventDefault(); keepMine(); }
    if (event.target.closest("[data-load-other]")) { forget(); leaving = true; }
  });

  function restore(entries) {
    const byName = new Map();
    for (const [name, value] of entries) byName.set(name, [...(byName.get(name) || []), value]);
    for (const field of form.elements) {
      const values = byName.get(field.name);
      if (!values) continue;
      if (["radio", "checkbox"].includes(field.type)) field.checked = values.includes(field.value);
      else field.value = field.name.startsWith("comment.") ? values.shift() || "" : values[0];
    }
    changed();
  }

  function offerWhatIsKept() {
    let found = null;
    try { found = JSON.parse(localStorage.getItem(kept)); } catch { return; }
    if (!found || JSON.stringify(found.typed) === JSON.stringify(typed())) return;
    notice("Text is kept in this browser that did not reach the server.", [["Restore it", () => restore(found.typed)], ["Throw it away", forget]]);
  }

  form.addEventListener("input", changed);
  // A save on its way comes first: the two would look like two pages that know nothing of each other.
  form.addEventListener("submit", async (event) => {
    clearTimeout(timer);
    if (!saving) { leaving = true; return; }
    event.preventDefault();
    const button = event.submitter;
    await saving;
    form.requestSubmit(button);
  });
  window.addEventListener("beforeunload", (event) => {
    if (!leaving && ["failed", "conflict"].includes(state.dataset.state)) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => { if (document.hidden && isDirty) save(); });
  // A page that came with a conflict shows what was typed last: that is what this browser has to keep.
  if (state.dataset.state === "conflict") { keepHere(); dispute(form.version.value); }
  else offerWhatIsKept();
});
