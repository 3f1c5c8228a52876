// Runs before the first paint: marks that scripts are on, and applies the theme that was chosen.
(() => {
  const root = document.documentElement;
  const order = ["system", "light", "dark"];
  let theme = "system";
  try { theme = localStorage.getItem("theme") || "system"; } catch { /* storage may be refused; the system's theme then holds */ }

  function apply() {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) button.textContent = `Theme: ${theme === "system" ? "auto" : theme}`;
  }

  root.classList.add("js");
  apply();
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme")?.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      try { localStorage.setItem("theme", theme); } catch { /* lasts for this page only */ }
      apply();
    });
  });
})();
