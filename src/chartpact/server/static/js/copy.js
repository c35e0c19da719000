// A button on every configuration that can be copied.
for (const text of document.querySelectorAll(".card pre")) {
  const card = /** @type {HTMLElement} */ (text.closest(".card"));
  const name = card.querySelector("h3")?.textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy the configuration for ${name}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent ?? "");
    button.textContent = "Copied";
  });
  card.append(button);
}
