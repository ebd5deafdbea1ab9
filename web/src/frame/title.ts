// The title of the browser's tab: the number of items that wait, the page, and the program.

import { pageAt } from "./places.ts";

export function titleOf(path: string, waiting: number): string {
  const count = waiting === 0 ? "" : `(${waiting}) `;
  const page = pageOf(path);
  return `${count}${page === "" ? "" : `${page} · `}Passrail`;
}

function pageOf(path: string): string {
  const [, place = "", name] = path.split("/");
  const of = readable(name ?? "");
  if (place === "g") return "Decision";
  if (of !== "" && place === "runs") return /^[0-9]+$/u.test(of) ? `Run #${of}` : `Run ${of}`;
  if (of !== "" && (place === "tickets" || place === "flows")) return of;
  return pageAt(path)?.name ?? (place === "welcome" ? "Welcome" : "");
}

/** As a person wrote it; an address that cannot be read stays out of the title. */
function readable(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll(/\p{C}/gu, "").slice(0, 60);
  } catch {
    return "";
  }
}
