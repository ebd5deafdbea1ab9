// Triggers on changed files: one run for all that changed together, once they are stable for two looks. Content counts, not time; stored
// hashes reveal changes from while Passrail was down.

import { sep } from "node:path";
import type { Json } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import { isSafeGlob } from "../core/glob.ts";
import { changedPaths, type HashCache, type Hashes, hashFiles } from "./project-files.ts";
import type { FilesSettings } from "../settings/triggers.ts";
import type { Look, Occurrence, TriggerSource } from "./source.ts";

export type FilesPlace = {
  readonly project: string;
  /** The state folder may be inside the project. */
  readonly home: string;
  readonly newId: () => string;
  readonly everyMs?: number;
};

/** `epoch` distinguishes a fresh start after lost state; `number` counts the changes since. */
type Seen = { readonly epoch: string; readonly number: number; readonly hashes: Hashes };

const EVERY_MS = 2000;
const SHOWN_FILES = 50;

export function createFiles({ name, files }: FilesSettings, place: FilesPlace): Result<TriggerSource> {
  const wrong = files.find((glob) => !isSafeGlob(glob));
  if (wrong !== undefined)
    return err({
      code: "trigger_invalid",
      message: `The trigger ${name} has a glob that does not name files of the project: "${wrong}".`,
      hint: 'Relative to the project, such as "docs/**/*.md". docs/triggers.md',
    });
  const cache: HashCache = new Map();
  const everyMs = place.everyMs ?? EVERY_MS;
  let last = "";
  const isLeftOut = (path: string): boolean => path === place.home || path.startsWith(`${place.home}${sep}`);
  const hashes = () => hashFiles(place.project, files, cache, isLeftOut);
  return ok({
    kind: "files",
    about: files.join(" "),
    async look(seen, _now): Promise<Result<Look>> {
      const now = await hashes();
      if (!now.ok) return now;
      const before = readSeen(seen);
      const settled = JSON.stringify(now.value);
      const isStill = settled === last;
      last = settled;
      if (before === undefined)
        return ok({ occurrence: null, seen: { epoch: place.newId(), number: 0, hashes: now.value }, againMs: everyMs });
      const changed = changedPaths(before.hashes, now.value);
      const next = { ...before, hashes: now.value };
      if (changed.length === 0) {
        // Deleted files are forgotten, so that they count as new when they return.
        const isSame = Object.keys(before.hashes).length === Object.keys(now.value).length;
        return ok({ occurrence: null, seen: isSame ? seen : next, againMs: everyMs });
      }
      if (!isStill) return ok({ occurrence: null, seen, againMs: everyMs });
      const number = before.number + 1;
      return ok({
        occurrence: occurrenceOf(`${before.epoch}-${number}`, String(number), changed),
        seen: { ...next, number },
        againMs: everyMs,
      });
    },
    async byHand(now): Promise<Result<Occurrence>> {
      const all = await hashes();
      if (!all.ok) return all;
      return ok(occurrenceOf(`by-hand-${now.toISOString()}`, `${now.getTime()}`, Object.keys(all.value)));
    },
    async explain(seen) {
      const now = await hashes();
      if (!now.ok) return now;
      const before = readSeen(seen);
      const count = `${Object.keys(now.value).length} file(s) are watched`;
      if (before === undefined) return ok([`${count}; the next change starts a run`]);
      const changed = changedPaths(before.hashes, now.value).map((path) => `changed: ${path}`);
      return ok([count, ...(changed.length === 0 ? ["nothing has changed"] : changed.slice(0, SHOWN_FILES))]);
    },
  });
}

function occurrenceOf(id: string, mark: string, changed: readonly string[]): Occurrence {
  const [first = "no file"] = changed;
  const more = changed.length > 1 ? ` and ${changed.length - 1} more` : "";
  const list = changed.slice(0, SHOWN_FILES);
  return {
    id,
    mark,
    title: `{name}: {file}${more}`,
    body: `These files have changed:\n${list.map((path) => `- ${path}`).join("\n")}${changed.length > list.length ? "\n- …" : ""}\n`,
    values: { file: first, files: list.join(", ") },
    facts: { file: first, files: [...list] },
  };
}

function readSeen(seen: Json | null): Seen | undefined {
  if (seen === null || typeof seen !== "object" || Array.isArray(seen)) return undefined;
  const { epoch, number, hashes } = seen as Partial<Seen>;
  if (typeof epoch !== "string" || typeof number !== "number" || hashes === null || typeof hashes !== "object")
    return undefined;
  return { epoch, number, hashes };
}
