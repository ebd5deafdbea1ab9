// The keys of a diff: j and k go from file to file, n and p from change to change, v marks the file as viewed and goes
// to the next, l changes the columns.

import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useMemo, useRef } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import type { FileDiff } from "./parse.ts";
import { placeOf, placesOf } from "./places.ts";
import { type Row, viewedKey } from "./rows.ts";
import { buttonAt } from "./walk.ts";

type Walked = {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly rows: readonly Row[];
  readonly virtual: Virtualizer<Window, Element>;
  readonly viewed: ReadonlySet<string>;
  readonly look: (file: FileDiff, is: boolean) => void;
  readonly switchLayout: () => void;
};

/** The lines above a change that stay in sight; the head of the file covers some of them. */
const ABOVE = 4;

export function useDiffKeys(walked: Walked): void {
  const latest = useRef(walked);
  /** The row that a key went to last, by its key: rows come and go above it. */
  const cursor = useRef("");
  useEffect(() => {
    latest.current = walked;
  });
  useEffect(() => {
    // A person who scrolls is somewhere else: the way starts at the top of the window. One who clicks or walks is in that row.
    const forget = (): void => {
      cursor.current = "";
    };
    const remember = ({ target }: Event): void => {
      const row = target instanceof Element ? target.closest<HTMLElement>("[data-row]") : null;
      if (row !== null) cursor.current = row.dataset["row"] ?? "";
    };
    const listen = [
      ["wheel", forget],
      ["touchmove", forget],
      ["pointerdown", remember],
      ["focusin", remember],
    ] as const;
    for (const [name, act] of listen) addEventListener(name, act, { passive: true });
    return () => {
      for (const [name, act] of listen) removeEventListener(name, act);
    };
  }, []);
  const keys = useMemo(() => {
    const now = (): number => {
      const { rows, virtual } = latest.current;
      const at = rows.findIndex(({ key }) => key === cursor.current);
      if (at !== -1) return at;
      const isAbove = (virtual.scrollOffset ?? 0) < virtual.options.scrollMargin;
      return isAbove ? -1 : (virtual.range?.startIndex ?? 0);
    };
    const step = (by: 1 | -1, isWanted: (rows: readonly Row[], at: number) => boolean): void => {
      const { rows, virtual, list } = latest.current;
      let at = now() + by;
      while (at >= 0 && at < rows.length && !isWanted(rows, at)) at += by;
      const row = rows[at];
      if (row === undefined) return;
      cursor.current = row.key;
      virtual.scrollToIndex(row.type === "file" ? at : Math.max(0, at - ABOVE), { align: "start" });
      focusWhenDrawn(list, row);
    };
    const view = (): void => {
      const { rows, viewed, look } = latest.current;
      const at = Math.max(0, now());
      const row = rows.slice(0, at + 1).findLast((each) => each.type === "file");
      if (row?.type !== "file") return;
      const isViewed = viewed.has(viewedKey(row.file));
      cursor.current = row.key;
      look(row.file, !isViewed);
      if (!isViewed) step(1, isFile);
    };
    const key = (name: string, does: string, act: () => void) => ({ keys: name, does, group: "Changes", act });
    return [
      key("j", "Next file (in the changes)", () => isHere(latest.current) && step(1, isFile)),
      key("k", "Previous file (in the changes)", () => isHere(latest.current) && step(-1, isFile)),
      key("n", "Next change", () => step(1, beginsChange)),
      key("p", "Previous change", () => step(-1, beginsChange)),
      key("v", "Viewed, and to the next file", view),
      key("l", "One column or two", () => latest.current.switchLayout()),
    ];
  }, []);
  useShortcuts(keys);
}

/** Where a list of entries is beside the diff, j and k are its own until the diff has the focus. */
function isHere({ list }: Walked): boolean {
  return list.current?.contains(document.activeElement) === true || document.querySelector("[data-need]") === null;
}

function isFile(rows: readonly Row[], at: number): boolean {
  return rows[at]?.type === "file";
}

function beginsChange(rows: readonly Row[], at: number): boolean {
  return isChange(rows[at]) && !isChange(rows[at - 1]);
}

function isChange(row: Row | undefined): boolean {
  if (row?.type === "line") return row.line.kind === "added" || row.line.kind === "removed";
  return row?.type === "pair" && row.pair.left !== row.pair.right;
}

/** The list draws what comes into sight some frames after the page has moved. */
const FRAMES = 60;

function focusWhenDrawn(list: RefObject<HTMLElement | null>, row: Row, left = FRAMES): void {
  requestAnimationFrame(() => {
    const target = targetIn(list.current, row);
    if (target !== null) target.focus({ preventScroll: true });
    else if (left > 0) focusWhenDrawn(list, row, left - 1);
  });
}

function targetIn(list: HTMLElement | null, row: Row): HTMLElement | null {
  if (row.type === "file")
    return list?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.key)}"] button`) ?? null;
  return buttonAt(list, placeIn(row));
}

function placeIn(row: Row) {
  if (row.type === "line") return placeOf(row.file, row.line);
  return row.type === "pair" ? (placesOf(row.file, row.pair)[0] ?? null) : null;
}
