// A worktree, and an agent in place, share the user's .git. The guard keeps one baseline per repository while attempts work there, also on
// disk, so that after a crash a planted file does not become the new normal. Whatever else changes in the control area is moved to the
// quarantine and put back, and every attempt that was at work has tampered: nobody can tell which of them it was.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { err, messageOf, ok, type Problem, type Result } from "../core/result.ts";
import { TAMPERED } from "../file/confined.ts";
import { type OsLock, tryOsLock } from "../file/os-lock.ts";
import { changedNames, type ControlArea, controlAreaSchema, putBack, readControlArea } from "./control-area.ts";
import { mayChange } from "./guarded-settings.ts";
import { compareRefs, type GuardedRefs, readRefs } from "./guarded-refs.ts";
import { inTurns } from "./turns.ts";
import type { GuardReport } from "./workspace.ts";

export type RepositoryGuard = {
  /** Before an attempt. `branch` is the one that the attempt may move; null: the one that is checked out. */
  begin(commonDir: string, branch: string | null): Promise<Result<() => Promise<GuardReport>>>;
};

/** One attempt at work in a repository. Its process holds a lock as long as it lives. */
type Session = { readonly id: string; readonly tampered: readonly string[] };

type Guarded = {
  readonly baseline: ControlArea;
  readonly sessions: readonly Session[];
  /** Branches of all attempts since the baseline was taken: they move with the work of others. */
  readonly branches: readonly string[];
};

/** An attempt of this process. */
type OwnSession = { readonly id: string; readonly refs: GuardedRefs; readonly lock: OsLock };

export function createRepositoryGuard(home: string): RepositoryGuard {
  // Attempts may be processes of their own, so what they share is in a file, and one of them at a time changes it.
  const inTurn = inTurns(join(home, "locks", "guards"));

  return {
    begin: (commonDir, branch) => inTurn(commonDir, () => begin(commonDir, branch)),
  };

  async function begin(commonDir: string, branch: string | null): Promise<Result<() => Promise<GuardReport>>> {
    try {
      const known = await readStored(home, commonDir);
      const left = known === null ? [] : await check(commonDir, known.baseline);
      const living = (known?.sessions ?? []).filter(({ id }) => isHeld(sessionFile(home, id)));
      const id = randomBytes(12).toString("hex");
      const refs = await readRefs(commonDir, branch);
      const lock = tryOsLock(sessionFile(home, id));
      if (lock === undefined) throw new Error(`the session ${id} exists already`);
      await store(home, commonDir, {
        baseline: await readControlArea(commonDir),
        sessions: [...blamed(living, left), { id, tampered: [] }],
        branches: [...new Set([...(living.length === 0 ? [] : (known?.branches ?? [])), ...refs.own])],
      });
      // What a dead process's attempt left is put back and reported, but this attempt has not done it.
      const reported = left.map((what) => `repository_restored: ${what}`);
      return ok(() => inTurn(commonDir, () => end(commonDir, { id, refs, lock }, reported)));
    } catch (error) {
      return err(unreadable(commonDir, error));
    }
  }

  async function end(commonDir: string, own: OwnSession, reported: readonly string[]): Promise<GuardReport> {
    try {
      const known = await readStored(home, commonDir);
      if (known === null) throw new Error("its baseline is gone");
      const found = await check(commonDir, known.baseline);
      const before = known.sessions.find(({ id }) => id === own.id)?.tampered ?? [];
      const others = known.sessions.filter(({ id }) => id !== own.id && isHeld(sessionFile(home, id)));
      const refs = await compareRefs(commonDir, own.refs, new Set(known.branches));
      if (others.length === 0) await rm(baselineFile(home, commonDir), { force: true });
      else
        await store(home, commonDir, {
          ...known,
          baseline: await readControlArea(commonDir),
          sessions: blamed(others, found),
        });
      return { tampered: [...before, ...found, ...refs.tampered], warnings: [...reported, ...refs.warnings] };
    } catch (error) {
      // Fails closed: the stored baseline stays for the next attempt.
      return { tampered: [unreadable(commonDir, error).message], warnings: reported };
    } finally {
      own.lock.release();
      await rm(sessionFile(home, own.id), { force: true });
    }
  }

  /** Puts back what may not change; a sentence for each name. */
  async function check(commonDir: string, baseline: ControlArea): Promise<readonly string[]> {
    const now = await readControlArea(commonDir);
    const wrong: string[] = [];
    for (const name of changedNames(baseline, now))
      if (!(await mayChange(commonDir, name, baseline[name], now[name]))) wrong.push(name);
    if (wrong.length === 0) return [];
    const at = new Date().toISOString().replace(/[:.]/gu, "-");
    const place = join(home, "quarantine", `${at}-${randomBytes(3).toString("hex")}`);
    const failed = await putBack(commonDir, wrong, baseline, place);
    const shown = wrong.slice(0, 10).map((name) => name.replace(/\p{Cc}/gu, "?").slice(0, 120));
    return [`${shown.join(", ")} of ${commonDir} changed and was put back; the change is in ${place}`, ...failed];
  }
}

/** Nobody can tell which of the attempts at work it was. */
function blamed(sessions: readonly Session[], found: readonly string[]): readonly Session[] {
  return sessions.map(({ id, tampered }) => ({ id, tampered: [...tampered, ...found].slice(0, BLAMES_AT_MOST) }));
}

const BLAMES_AT_MOST = 50;

const storedSchema = z.object({
  repository: z.string(),
  area: controlAreaSchema,
  // A file of an earlier version has only the baseline.
  sessions: z.array(z.object({ id: z.string().regex(/^[0-9a-f]{24}$/), tampered: z.array(z.string()) })).default([]),
  branches: z.array(z.string()).default([]),
});

function baselineFile(home: string, commonDir: string): string {
  return join(home, "guards", `${createHash("sha256").update(commonDir).digest("hex").slice(0, 32)}.json`);
}

function sessionFile(home: string, id: string): string {
  return join(home, "guards", `${id}.session`);
}

/** Whether the process that took the lock is alive. */
function isHeld(file: string): boolean {
  const lock = tryOsLock(file);
  lock?.release();
  return lock === undefined;
}

async function readStored(home: string, commonDir: string): Promise<Guarded | null> {
  const text = await readFile(baselineFile(home, commonDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const { area, sessions, branches } = storedSchema.parse(JSON.parse(text));
  return { baseline: area, sessions, branches };
}

async function store(home: string, commonDir: string, { baseline, sessions, branches }: Guarded): Promise<void> {
  const file = baselineFile(home, commonDir);
  await mkdir(join(home, "guards"), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  const text = JSON.stringify({ repository: commonDir, area: baseline, sessions, branches });
  await writeFile(draft, text, { flag: "wx", mode: 0o600, flush: true });
  await rename(draft, file);
}

const unreadable = (commonDir: string, error: unknown): Problem => ({
  code: TAMPERED,
  message: `The settings, hooks or refs of ${commonDir} cannot be compared: ${messageOf(error)}.`,
  hint: `Look at them: git -C ${commonDir} config --list --show-origin`,
});
