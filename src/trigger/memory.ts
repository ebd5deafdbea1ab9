// A trigger's memory over restarts, one private file each below the state folder. An occurrence is stored before it starts, so that a crash
// in between neither loses nor repeats it.

import { createHash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Json } from "../core/json.ts";
import type { Occurrence } from "./source.ts";
import type { TriggerSettings } from "../settings/triggers.ts";

export type Memory = {
  /** Changes when the trigger watches something else; then its memory is reset. */
  readonly definition: string;
  readonly seen: Json | null;
  /** Decided, but its run may not be stored yet. `seen` takes effect with it. */
  readonly pending: { readonly occurrence: Occurrence; readonly seen: Json } | null;
  readonly last: { readonly at: string; readonly runId: string; readonly occurrence: string } | null;
  /** Why the last look or start failed. */
  readonly problem: string | null;
};

export type MemoryFile = { read(): Memory; write(memory: Memory): void };

const json = z.json();
const occurrence = z.object({
  id: z.string(),
  mark: z.string(),
  title: z.string(),
  body: z.string(),
  values: z.record(z.string(), z.string()),
  facts: z.record(z.string(), json),
});
const schema = z.object({
  definition: z.string(),
  seen: json,
  pending: z.object({ occurrence, seen: json }).nullable(),
  last: z.object({ at: z.string(), runId: z.string(), occurrence: z.string() }).nullable(),
  problem: z.string().nullable(),
});

export function openMemory(home: string, project: string, settings: TriggerSettings): MemoryFile {
  const place = createHash("sha256").update(`${project}\n${settings.name}`).digest("hex").slice(0, 12);
  const path = join(home, "triggers", `${settings.name}-${place}.json`);
  const definition = definitionOf(settings);
  const empty: Memory = { definition, seen: null, pending: null, last: null, problem: null };
  return {
    read() {
      const parsed = schema.safeParse(parse(path));
      const stored = parsed.success ? (parsed.data as Memory) : empty;
      return stored.definition === definition ? stored : { ...empty, last: stored.last };
    },
    write(memory) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const fd = openSync(`${path}.new`, "w", 0o600);
      try {
        writeFileSync(fd, JSON.stringify(memory));
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(`${path}.new`, path);
    },
  };
}

/** The watched things; the texts and the flow may change without a reset. */
function definitionOf(settings: TriggerSettings): string {
  if ("schedule" in settings) return JSON.stringify(["schedule", settings.schedule, settings.timezone ?? ""]);
  if ("files" in settings) return JSON.stringify(["files", ...settings.files]);
  return JSON.stringify(["issue", settings.github_issue.repo ?? "", settings.github_issue.label]);
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
