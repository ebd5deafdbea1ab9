// How much fits on a page: comfortable, or compact with less space between rows. The browser remembers it.

export type Density = "comfortable" | "compact";
const KEY = "passrail.density";

export function currentDensity(): Density {
  return localStorage.getItem(KEY) === "compact" ? "compact" : "comfortable";
}

export function applyDensity(density: Density = currentDensity()): void {
  if (density === "comfortable") delete document.documentElement.dataset["density"];
  else document.documentElement.dataset["density"] = density;
}

export function setDensity(density: Density): void {
  if (density === "comfortable") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, density);
  applyDensity(density);
}
