// Runs the triggers: each polls its source, notes an occurrence before it acts on it, and retries after a failure. They run in the daemon,
// because a process has to be up when an occurrence is due.

import { randomUUID } from "node:crypto";
import { runIdOf } from "../app/run-id.ts";
import type { UseCases } from "../app/use-cases.ts";
import type { Store } from "../store/store.ts";
import type { Site } from "../settings/site.ts";
import { err, messageOf, ok, type Result } from "../core/result.ts";
import { openGh } from "../ticket/intake/gh.ts";
import { createFiles } from "./files.ts";
import { createIssues } from "./issues.ts";
import { type MemoryFile, openMemory } from "./memory.ts";
import { createSchedule } from "./schedule.ts";
import type { TriggerSettings } from "../settings/triggers.ts";
import type { Occurrence, TriggerSource } from "./source.ts";
import { keyOf, planTriggered, type TriggerPlace } from "./start.ts";

export type OpenedTrigger = {
  readonly settings: TriggerSettings;
  readonly source: TriggerSource;
  readonly memory: MemoryFile;
};

export type TriggerOptions = TriggerPlace & {
  readonly triggers: readonly OpenedTrigger[];
  readonly app: Pick<UseCases, "startRun">;
  readonly store: Store;
  readonly onProblem: (text: string) => void;
  readonly now?: () => Date;
};

export type Triggers = { close(): Promise<void> };

const AFTER_FAILURE_MS = 30_000;
const SOON_MS = 5;

/** Reads every trigger of the settings. An error names the first invalid one. */
export function readTriggers(
  settings: readonly TriggerSettings[],
  place: Pick<Site, "home" | "project" | "environment">,
): Result<readonly OpenedTrigger[]> {
  const opened: OpenedTrigger[] = [];
  for (const each of settings) {
    if (opened.some((other) => other.settings.name === each.name))
      return err({
        code: "trigger_invalid",
        message: `Two triggers have the name ${each.name}.`,
        hint: "docs/triggers.md",
      });
    const source = sourceOf(each, place);
    if (!source.ok) return source;
    opened.push({ settings: each, source: source.value, memory: openMemory(place.home, place.project, each) });
  }
  return ok(opened);
}

function sourceOf(
  settings: TriggerSettings,
  place: Pick<Site, "home" | "project" | "environment">,
): Result<TriggerSource> {
  if ("schedule" in settings) return createSchedule(settings);
  if ("files" in settings) return createFiles(settings, { ...place, newId: () => randomUUID().slice(0, 8) });
  return ok(createIssues(settings, openGh(place.environment, place.project)));
}

export function openTriggers(options: TriggerOptions): Triggers {
  const watches = options.triggers.map((trigger) => watch(trigger, options));
  return {
    async close() {
      await Promise.all(watches.map((stop) => stop()));
    },
  };
}

function watch(trigger: OpenedTrigger, options: TriggerOptions): () => Promise<void> {
  const reported = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let turn = Promise.resolve();
  const tell = (text: string): void => {
    if (reported.has(text)) return;
    if (reported.size > 1000) reported.clear();
    reported.add(text);
    options.onProblem(`trigger ${trigger.settings.name}: ${text}`);
  };
  const again = (ms: number): void => {
    if (isStopped) return;
    timer = setTimeout(
      () => {
        turn = lookOnce(trigger, options, tell, () => isStopped).then(again, (error: unknown) => {
          tell(messageOf(error));
          again(AFTER_FAILURE_MS);
        });
      },
      Math.max(ms, SOON_MS),
    );
    timer.unref();
  };
  again(0);
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    trigger.source.close?.();
    await turn;
  };
}

/** One look and, if an occurrence is due, its run. Returns the time until the next look. */
export async function lookOnce(
  { settings, source, memory }: OpenedTrigger,
  options: Omit<TriggerOptions, "triggers">,
  tell: (text: string) => void,
  isStopped: () => boolean = () => false,
): Promise<number> {
  const now = options.now?.() ?? new Date();
  let known = memory.read();
  const fail = (problem: string): number => {
    // A look that was aborted has not failed.
    if (isStopped()) return AFTER_FAILURE_MS;
    if (known.problem !== problem) memory.write({ ...known, problem });
    tell(problem);
    return AFTER_FAILURE_MS;
  };
  let againMs = 0;
  if (known.pending === null) {
    const look = await source.look(known.seen, now);
    if (!look.ok) return fail(look.error.message);
    const { occurrence, seen } = look.value;
    againMs = look.value.againMs;
    for (const note of look.value.notes ?? []) tell(note);
    if (occurrence === null) {
      if (known.problem !== null || JSON.stringify(seen) !== JSON.stringify(known.seen))
        memory.write({ ...known, seen, problem: null });
      return againMs;
    }
    known = { ...known, pending: { occurrence, seen } };
    memory.write(known);
  }
  const { pending } = known;
  if (pending === null) return againMs;
  const started = await start(settings, pending.occurrence, options);
  if (!started.ok) return fail(`${pending.occurrence.id} was not started: ${started.error.message}`);
  memory.write({
    ...known,
    seen: pending.seen,
    pending: null,
    problem: null,
    last: { at: now.toISOString(), runId: started.value, occurrence: pending.occurrence.id },
  });
  return againMs;
}

async function start(
  settings: TriggerSettings,
  occurrence: Occurrence,
  { app, store, ...place }: Omit<TriggerOptions, "triggers">,
): Promise<Result<string>> {
  const runId = runIdOf(keyOf(place.project, settings.name, occurrence.id));
  if ((await store.loadRun(runId)) !== undefined) return ok(runId);
  const plan = await planTriggered(settings, occurrence, place);
  if (!plan.ok) return plan;
  const started = await app.startRun(plan.value, "system");
  return started.ok ? ok(runId) : started;
}
