// Looks after pull requests: for every run that waits for its merge the forge is asked now and then, and at once when somebody says that
// something happened. Who wakes it is not believed: only what the forge shows counts.

import type { Report } from "../../core/flow/outcome.ts";
import { messageOf, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Store } from "../../store/store.ts";
import { report, reportOf, type WaitingMerge, waitingMerge } from "./merge-stage.ts";
import { landedRecord } from "../../core/ticket/landed.ts";
import { requestOf } from "./record.ts";

export type MergeWatchOptions = {
  readonly store: Pick<Store, "activeRuns" | "loadRun" | "loadFlow" | "attempts">;
  readonly engine: Pick<Engine, "deliver">;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  readonly pollMs: number;
  /** Logs of others may hold secrets of ours. */
  readonly redact: (text: string) => string;
  /** After every look: what became possible by merges elsewhere. */
  readonly afterLook?: () => Promise<void>;
  readonly onProblem: (runId: string | null, error: unknown) => void;
  /** From 0 to 1, so that many machines do not ask at the same moment. */
  readonly random?: () => number;
};

export type MergeWatch = {
  /** Look now, also at what was put off after an error. Resolves when it was looked. */
  wake(): Promise<void>;
  close(): Promise<void>;
};

const LONGEST_WAIT_MS = 30 * 60_000;
const FIRST_LOOK_MS = 500;

export function openMergeWatch(options: MergeWatchOptions): MergeWatch {
  const { store, onProblem, pollMs, random = Math.random } = options;
  /** Runs whose forge could not be asked: how often in a row, and when to ask again. */
  const failing = new Map<string, { readonly times: number; readonly until: number }>();
  /** What was said of a run last, so that it is said once. */
  const said = new Map<string, string>();
  let closed = false;
  let working: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  plan(Math.min(FIRST_LOOK_MS, pollMs));

  return {
    wake() {
      failing.clear();
      return look();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await working;
    },
  };

  function plan(ms: number): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  }

  /** One look at a time; a wish that comes meanwhile is a further one. */
  function look(): Promise<void> {
    if (closed) return Promise.resolve();
    again = true;
    working ??= (async () => {
      while (again && !closed) {
        again = false;
        await lookAtAll();
      }
    })()
      .catch((error: unknown) => onProblem(null, error))
      .finally(() => {
        working = undefined;
        plan(pollMs * (0.9 + 0.2 * random()));
      });
    return working;
  }

  async function lookAtAll(): Promise<void> {
    const waiting = new Set<string>();
    for (const runId of await store.activeRuns()) {
      if (closed) return;
      const found = await findWaiting(runId);
      if (found === undefined) continue;
      waiting.add(runId);
      if ((failing.get(runId)?.until ?? 0) > Date.now()) continue;
      try {
        await lookAt(found.run, found.waits);
      } catch (error) {
        putOff(runId, messageOf(error));
      }
    }
    for (const known of [failing, said]) for (const runId of known.keys()) if (!waiting.has(runId)) known.delete(runId);
    await options.afterLook?.();
  }

  async function findWaiting(runId: string): Promise<{ run: Run; waits: WaitingMerge } | undefined> {
    const run = (await store.loadRun(runId))?.run;
    // A paused run refuses every report, and would never take the same one again.
    if (run === undefined || run.paused) return undefined;
    const known = await store.loadFlow(run.flowHash);
    if (known === undefined) return undefined;
    const waits = waitingMerge(known, run);
    return waits === undefined ? undefined : { run, waits };
  }

  async function lookAt(run: Run, waits: WaitingMerge): Promise<void> {
    const landed = landedRecord(await store.attempts(run.id));
    if (landed === undefined)
      return say(run.id, "nothing is recorded of its pull request; passrail done --force ends the wait");
    const forge = await options.forgeOf(projectOf(run));
    if (!forge.ok) return putOff(run.id, forge.error.message);
    const seen = await forge.value.look(requestOf(landed));
    if (!seen.ok) return putOff(run.id, seen.error.message);
    failing.delete(run.id);
    const state = seen.value;
    if (state.state === "open" && state.note !== null) say(run.id, state.note);
    const found = reportOf(state, landed);
    if (found === undefined) return;
    const told = withoutSecrets(found, options.redact);
    // What was merged elsewhere must be here before others build on it.
    const kept = state.state === "merged" ? await forge.value.keep(state.commit) : undefined;
    if (kept?.ok === false) return putOff(run.id, kept.error.message);
    const key = state.state === "revise" ? state.key : state.state;
    await report(options.engine, run, waits, { report: told, key, actor: "agent:forge" });
  }

  function putOff(runId: string, why: string): void {
    const times = (failing.get(runId)?.times ?? 0) + 1;
    const wait = Math.min(pollMs * 2 ** Math.min(times, 16), Math.max(LONGEST_WAIT_MS, pollMs));
    failing.set(runId, { times, until: Date.now() + wait });
    say(runId, `its pull request could not be looked at: ${why}`);
  }

  function say(runId: string, text: string): void {
    if (said.get(runId) === text) return;
    said.set(runId, text);
    onProblem(runId, new Error(text));
  }
}

function withoutSecrets(report: Report, redact: (text: string) => string): Report {
  const { issues = [], summary = "" } = report;
  if (issues.length === 0) return report;
  const clean = issues.map((issue) =>
    typeof issue === "string" ? redact(issue) : { ...issue, description: redact(issue.description) },
  );
  return { ...report, issues: clean, summary: redact(summary) };
}
