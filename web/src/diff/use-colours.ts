// The colours of code, from a worker. The diff is readable before they come.

import { useEffect, useMemo, useState } from "react";
import { askColours } from "./ask-colours.ts";
import type { DiffLine, FileDiff } from "./parse.ts";
import { linesIn } from "./rows.ts";
import { type Token, unpack } from "./token.ts";

export type Colour = (file: FileDiff, line: DiffLine) => readonly Token[] | undefined;

/** Larger files get no colours. */
const COLOURED_LINES = 20_000;

const known = new WeakMap<DiffLine, readonly Token[]>();
const asked = new WeakSet<FileDiff>();
const watchers = new Set<() => void>();

export function useColours(): Colour {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const changed = (): void => setVersion((before) => before + 1);
    watchers.add(changed);
    return () => void watchers.delete(changed);
  }, []);
  // A new function for each answer, so that lines which are drawn already are drawn again.
  return useMemo<Colour>(() => {
    void version;
    return (file, line) => {
      want(file);
      return known.get(line);
    };
  }, [version]);
}

/** A file is asked for when the first of its lines is drawn. */
function want(file: FileDiff): void {
  if (asked.has(file) || linesIn(file) > COLOURED_LINES) return;
  asked.add(file);
  queueMicrotask(() => void load(file));
}

/** Each hunk as the file was before and as it is after: a grammar has to read one text. */
async function load(file: FileDiff): Promise<void> {
  const sides = file.hunks.flatMap(({ lines }) => [
    lines.filter(({ kind }) => kind === "same" || kind === "removed"),
    lines.filter(({ kind }) => kind === "same" || kind === "added"),
  ]);
  const texts = await askColours(
    file.path,
    sides.map((lines) => lines.map(({ text }) => text)),
  );
  if (texts === null) return;
  sides.forEach((lines, side) =>
    lines.forEach((line, at) => {
      const packed = texts[side]?.[at];
      if (packed !== undefined) known.set(line, unpack(packed, line.text));
    }),
  );
  for (const watcher of watchers) watcher();
}
