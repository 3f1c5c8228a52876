// Says before sending that a file is too large: the server would cut the connection, and what was typed with it.
document.addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("input[type=file][data-bytes-max]")) {
    const most = Number(field.dataset.bytesMax), mebi = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
    field.addEventListener("change", () => {
      const size = [...field.files].reduce((sum, file) => sum + file.size, 0);
      field.setCustomValidity(size > most ? `This is ${mebi(size)}; ${mebi(most)} are taken. Leave out data files: inputs are made by the task.` : "");
      field.reportValidity();
    });
  }
});
