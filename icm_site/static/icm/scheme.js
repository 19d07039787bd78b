"use strict";
// Pages that are not ours get the colours of ours: those that their switch stored,
// else those of the system.
{
  const system = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const chosen = localStorage.getItem("theme") || "auto";
    const dark = chosen === "auto" ? system.matches : chosen === "dark";
    document.documentElement.classList.toggle("dark-mode", dark);
  };
  system.addEventListener("change", paint);
  paint();
}
