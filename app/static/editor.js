// Leaving a rubric's editor with unsaved text asks first; saving does not.
document.addEventListener("DOMContentLoaded", () => {
  const text = document.querySelector(".editor textarea");
  if (!text) return;
  let saving = false;
  text.form.addEventListener("submit", () => { saving = true; });
  window.addEventListener("beforeunload", (event) => {
    if (!saving && text.value !== text.defaultValue) event.preventDefault();
  });
});
