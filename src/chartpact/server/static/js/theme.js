// Sets the theme before anything is painted: a module would be too late.
document.documentElement.dataset.theme =
  localStorage.getItem("theme") ??
  (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
