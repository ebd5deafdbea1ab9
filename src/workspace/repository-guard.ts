// A worktree, and an agent in place, share the user's .git. The guard keeps one baseline per repository while attempts work there, also on
// disk, so that after a crash a planted file does not become the new normal. Whatever else changes in the control area is moved to the
// quarantine and put back, and every attempt that was at work has tampered: nobody can tell which of them it was.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { err, messageOf, ok, type Problem, type Result } from "../core/result.ts";
import { TAMPERED } from "../file/confined.ts";
import { changedNames, type ControlArea, controlAreaSchema, putBack, readControlArea } from "./control-area.ts";
import { mayChange } from "./guarded-settings.ts";
import { compareRefs, type GuardedRefs, readRefs } from "./guarded-refs.ts";
import { inTurns } from "./turns.ts";
import type { GuardReport } from "./workspace.ts";

export type RepositoryGuard = {
  /** Before an attempt. `branch` is the one that the attempt may move; null: the one that is checked out. */
  begin(commonDir: string, branch: string | null): Promise<Result<() => Promise<GuardReport>>>;
};

/** One attempt at work in a repository. */
type Session = { readonly refs: GuardedRefs; tampered: string[] };

type Guarded = {
  readonly baseline: ControlArea;
  readonly sessions: Set<Session>;
  /** Branches of all attempts since the baseline was taken: they move with the work of others. */
  readonly branches: Set<string>;
};

export function createRepositoryGuard(home: string): RepositoryGuard {
  const inTurn = inTurns();
  const guarded = new Map<string, Guarded>();

  return {
    begin: (commonDir, branch) => inTurn(commonDir, () => begin(commonDir, branch)),
  };

  async function begin(commonDir: string, branch: string | null): Promise<Result<() => Promise<GuardReport>>> {
    try {
      const known = guarded.get(commonDir);
      const before = known?.baseline ?? (await readStored(home, commonDir));
      const left = before === null ? [] : await check(commonDir, before);
      for (const session of known?.sessions ?? []) session.tampered.push(...left);
      const baseline = await readControlArea(commonDir);
      await store(home, commonDir, baseline);
      const session: Session = { refs: await readRefs(commonDir, branch), tampered: [] };
      guarded.set(commonDir, {
        baseline,
        sessions: new Set([...(known?.sessions ?? []), session]),
        branches: new Set([...(known?.branches ?? []), ...session.refs.own]),
      });
      // What a dead process's attempt left is put back and reported, but this attempt has not done it.
      const reported = left.map((what) => `repository_restored: ${what}`);
      return ok(() => inTurn(commonDir, () => end(commonDir, session, reported)));
    } catch (error) {
      return err(unreadable(commonDir, error));
    }
  }

  async function end(commonDir: string, session: Session, reported: readonly string[]): Promise<GuardReport> {
    const known = guarded.get(commonDir);
    if (known === undefined) throw new Error(`${commonDir} is not guarded`);
    const { baseline, sessions, branches } = known;
    sessions.delete(session);
    let refs: { readonly tampered: readonly string[]; readonly warnings: readonly string[] };
    try {
      const found = await check(commonDir, baseline);
      for (const other of sessions) other.tampered.push(...found);
      session.tampered.push(...found);
      refs = await compareRefs(commonDir, session.refs, branches);
      if (sessions.size > 0) guarded.set(commonDir, { ...known, baseline: await readControlArea(commonDir) });
    } catch (error) {
      // Fails closed: the stored baseline stays for the next attempt.
      if (sessions.size === 0) guarded.delete(commonDir);
      return { tampered: [unreadable(commonDir, error).message], warnings: reported };
    }
    if (sessions.size === 0) {
      guarded.delete(commonDir);
      await rm(baselineFile(home, commonDir), { force: true });
    }
    return { tampered: [...session.tampered, ...refs.tampered], warnings: [...reported, ...refs.warnings] };
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

const storedSchema = z.object({ repository: z.string(), area: controlAreaSchema });

function baselineFile(home: string, commonDir: string): string {
  return join(home, "guards", `${createHash("sha256").update(commonDir).digest("hex").slice(0, 32)}.json`);
}

async function readStored(home: string, commonDir: string): Promise<ControlArea | null> {
  const text = await readFile(baselineFile(home, commonDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return text === null ? null : storedSchema.parse(JSON.parse(text)).area;
}

async function store(home: string, commonDir: string, area: ControlArea): Promise<void> {
  const file = baselineFile(home, commonDir);
  await mkdir(join(home, "guards"), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, JSON.stringify({ repository: commonDir, area }), { flag: "wx", mode: 0o600, flush: true });
  await rename(draft, file);
}

const unreadable = (commonDir: string, error: unknown): Problem => ({
  code: TAMPERED,
  message: `The settings, hooks or refs of ${commonDir} cannot be compared: ${messageOf(error)}.`,
  hint: `Look at them: git -C ${commonDir} config --list --show-origin`,
});
