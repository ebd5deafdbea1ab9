// Keyboard access to the lines of a diff: Tab reaches one of them, arrow keys move between them.

import type { KeyboardEvent } from "react";
import { type LinePlace, placeKey, placeOf, placesOf } from "./places.ts";
import type { Row } from "./rows.ts";

/** The one line that Tab reaches: the last focused one, if it is still drawn. */
export function tabStop(drawn: readonly (Row | undefined)[], focused: string | null): string | null {
  const places = drawn.flatMap((row) => {
    if (row?.type === "pair") return placesOf(row.file, row.pair).map(placeKey);
    const place = row?.type === "line" ? placeOf(row.file, row.line) : null;
    return place === null ? [] : [placeKey(place)];
  });
  return focused !== null && places.includes(focused) ? focused : (places[0] ?? null);
}

/** Up and down go from line to line; the page follows the focus. */
export function walk(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (!(event.target instanceof HTMLButtonElement) || event.target.dataset["place"] === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button[data-place]")];
  const inOrder = buttons.toSorted((a, b) => {
    const [one, other] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
    return one.top - other.top || one.left - other.left;
  });
  const at = inOrder.indexOf(event.target);
  const next = inOrder[event.key === "ArrowDown" ? at + 1 : at - 1];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

export function buttonAt(list: HTMLElement | null, place: LinePlace | null): HTMLElement | null {
  if (place === null) return null;
  return list?.querySelector<HTMLElement>(`[data-place="${CSS.escape(placeKey(place))}"]`) ?? null;
}
