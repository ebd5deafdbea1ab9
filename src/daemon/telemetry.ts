// Sends traces to an OTLP collector, behind the engine: it reads stored events in their order, and remembers how far it has sent. A collector
// that is slow or away delays nothing and loses nothing; what it refuses is left out.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { attemptSpan, type OtlpSpan, runSpans, SCHEMA_URL, type TracedAttempt } from "../core/view/trace-spans.ts";
import { replacePrivate } from "../file/private-file.ts";
import type { AttemptRecord, Store, StoredEvent } from "../store/store.ts";
import { createPoll } from "../ticket/poll.ts";
import { postOtlp, senderOf } from "./otlp-post.ts";
import type { TelemetrySettings } from "./telemetry-settings.ts";

export type TelemetryOptions = TelemetrySettings & {
  readonly home: string;
  readonly store: Pick<Store, "attempts" | "events" | "lastSeq" | "loadRun">;
  readonly log: (line: string) => void;
};

export type Telemetry = {
  /** One look; the timer causes it, too. */
  look(): Promise<void>;
  close(): Promise<void>;
};

const PAGE = 200;
const PAUSE_MS = 5000;
const AWAY_MS = 60_000;
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The first time in a state folder it begins with what happens from now on. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { home, log, store } = options;
  let after = readSent(home) ?? (await store.lastSeq());
  let isAway = false;
  writeSent(home, after);
  const look = async (): Promise<void> => {
    for (;;) {
      const page = await store.events({ after, limit: PAGE });
      const last = page.at(-1);
      if (last === undefined) return;
      const spans = await spansOf(page, store);
      if (spans.length > 0) await send(options, spans);
      after = last.seq;
      isAway = false;
      writeSent(home, after);
    }
  };
  const poll = createPoll({
    task: look,
    pauseMs: () => (isAway ? AWAY_MS : PAUSE_MS),
    onError: (error) => {
      if (!isAway) log(`traces: ${error instanceof Error ? error.message : String(error)}; trying again`);
      isAway = true;
    },
  });
  poll.start(PAUSE_MS);
  return { look: () => poll.now(), close: () => poll.stop() };
}

const ATTEMPT_ENDS = new Set(["stage.finished", "stage.interrupted", "stage.canceled", "stage.timed_out"]);
const RUN_ENDS = { "run.completed": "completed", "run.canceled": "canceled", "run.stopped": "stopped" } as const;

async function spansOf(page: readonly StoredEvent[], store: TelemetryOptions["store"]): Promise<readonly OtlpSpan[]> {
  const spans: OtlpSpan[] = [];
  for (const [runId, own] of Map.groupBy(page, (each) => each.runId)) {
    const ends = own.filter(({ event }) => ATTEMPT_ENDS.has(event.type) || Object.hasOwn(RUN_ENDS, event.type));
    if (ends.length === 0) continue;
    const run = (await store.loadRun(runId))?.run;
    // Deleted meanwhile.
    if (run === undefined) continue;
    const history = await eventsOf(runId, store);
    const attempts = (await store.attempts(runId)).flatMap((record) => traced(record, run.flow, history));
    for (const { event } of ends) {
      if ("attempt" in event && "stage" in event) {
        const found = attempts.find(({ stage, attempt }) => stage === event.stage && attempt === event.attempt);
        if (found !== undefined) spans.push(attemptSpan(found, digest));
      }
      const end = RUN_ENDS[event.type as keyof typeof RUN_ENDS];
      if (end !== undefined)
        spans.push(
          ...runSpans(
            { id: runId, flow: run.flow, startedAt: run.createdAt, endedAt: event.at, end },
            attempts,
            digest,
          ),
        );
    }
  }
  return spans;
}

async function eventsOf(runId: string, store: TelemetryOptions["store"]): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let after = 0; ; ) {
    const page = await store.events({ runId, after, limit: PAGE });
    found.push(...page.filter(({ event }) => event.type === "usage.recorded"));
    if (page.length < PAGE) return found;
    after = page.at(-1)?.seq ?? after;
  }
}

function traced(record: AttemptRecord, flow: string, history: readonly StoredEvent[]): readonly TracedAttempt[] {
  const { runId, stage, attempt, startedAt, endedAt, outcome, status } = record;
  if (startedAt === null || endedAt === null) return [];
  const used = history.flatMap(({ event }) =>
    event.type === "usage.recorded" && event.stage === stage && event.attempt === attempt ? [event] : [],
  )[0];
  const health = typeof outcome?.["health"] === "string" ? outcome["health"] : status;
  const verdict = typeof outcome?.["verdict"] === "string" ? outcome["verdict"] : "pass";
  return [
    {
      runId,
      flow,
      stage,
      attempt,
      startedAt,
      endedAt,
      outcome: health === "complete" ? verdict : health,
      isGood: health === "complete",
      agent: used?.agent ?? null,
      used: used === undefined ? null : { runner: used.runner, model: used.model, usage: used.usage },
    },
  ];
}

/** Throws if it should be tried again: the collector is away, or says so. A final refusal is given up. */
async function send(options: TelemetryOptions, spans: readonly OtlpSpan[]): Promise<void> {
  const { resource, scope } = senderOf(options);
  const scopeSpans = [{ scope, schemaUrl: SCHEMA_URL, spans }];
  const answer = await postOtlp(options, { resourceSpans: [{ resource, schemaUrl: SCHEMA_URL, scopeSpans }] });
  if (answer === "refused") options.log(`traces: the collector refused ${spans.length} spans`);
}

function readSent(home: string): number | undefined {
  try {
    const read = z.object({ after: z.int().min(0) }).safeParse(JSON.parse(readFileSync(fileOf(home), "utf8")));
    return read.success ? read.data.after : undefined;
  } catch {
    return undefined;
  }
}

function writeSent(home: string, after: number): void {
  replacePrivate(fileOf(home), `${JSON.stringify({ after })}\n`);
}

function fileOf(home: string): string {
  return join(home, "traces.json");
}
