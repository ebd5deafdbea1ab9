// One attempt in a carrier, from its order to its report on disk. The carrier holds the agent's pipes, its desk, its limits and its log.
// Nothing that leaves the machine happens here: stages that push or merge are carried out by the engine.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { CachedCheck } from "../core/flow/check-result.ts";
import type { Report } from "../core/flow/outcome.ts";
import { messageOf } from "../core/result.ts";
import { toLiveAnswer } from "../core/run/live-question.ts";
import { cleanSignal } from "../core/run/clean-signal.ts";
import { PERMISSION_ANSWERS, type PermissionAnswer } from "../core/run/run.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import { createMailbox } from "../attempt/mailbox.ts";
import { type PersonMessage, waitingMessages } from "../core/run/message.ts";
import { cleanFacts } from "../attempt/clean-facts.ts";
import type { AttemptPorts, ObservedEvent } from "../attempt/job.ts";
import { runStage } from "../attempt/run-stage.ts";
import { escapedReport, strayFacts } from "../attempt/strays.ts";
import { readYamlList } from "../file/yaml-list.ts";
import { openRunners } from "../runner/open.ts";
import { killLeftovers } from "../runner/process/kill-tree.ts";
import { watchStrays } from "../runner/process/strays.ts";
import { createWorkspaces } from "../workspace/providers.ts";
import type { EngineLink } from "./engine-link.ts";
import { type ReportFile, writeReport } from "./report-file.ts";
import type { StartOrder } from "./wire.ts";

export type Carrying = {
  /** Commits and checks the work before a pass from elsewhere counts. */
  check(report: Report): Promise<Report>;
  /** The engine says what budgets leave to it now. */
  setRoom(room: AttemptRoom): void;
  /** A person's message; one that it has already changes nothing. */
  message(message: PersonMessage): void;
  /** Resolves when the report is on disk. */
  readonly ended: Promise<void>;
};

export function carry(id: string, order: StartOrder, link: EngineLink, signal: AbortSignal): Carrying {
  const { environment, settings, job } = order;
  const runners = openRunners(environment, settings);
  const straysIn = watchStrays();
  let folder: string | null = null;
  let room: AttemptRoom = order.room ?? [];
  let check: ((report: Report) => Promise<Report>) | undefined;
  const messages = createMailbox(waitingMessages(job.run, job.stage.id), (number, way) => link.heard({ number, way }));
  const ports: AttemptPorts = {
    messages,
    runners,
    builtins: {},
    workspaces: createWorkspaces({ home: job.home, settings: settings.workspaces, environment })(
      workspaceMode(job.resolved, job.run),
    ),
    earlierAttempts: async () => order.earlier,
    note(facts) {
      folder = attemptFacts({ facts }).workspace ?? folder;
      return link.note(cleanFacts(facts, runners.redact));
    },
    isSettled: async () => (await link.ask({ about: "settled" })) === true,
    checkCache: {
      // Without an engine the check simply runs.
      find: async (key, now) =>
        ((await link.ask({ about: "cached-check", key, now })) as CachedCheck | null | undefined) ?? undefined,
      save: async (found) => link.tell({ type: "save-check", check: found }),
    },
    offerCheck(offered) {
      check = offered;
      link.offerCheck();
    },
    askPermission: async (question) => toAnswer(await link.ask({ about: "permission", question })),
    expirePermission: async (request) => toAnswer(await link.ask({ about: "permission-expired", request })),
    askQuestion: async (question) => toLiveAnswer(await asOlderMay(link.ask({ about: "question", question }))),
    expireQuestion: async (request) => toLiveAnswer(await asOlderMay(link.ask({ about: "question-expired", request }))),
    outward: { intend: async () => ({ type: "refused", why: "only the engine acts outside" }), see: async () => {} },
    room: () => room,
    spent: (reported) => link.spent(reported),
    observed: (event) => link.tell({ type: "observed", event: shortened(event) }),
    readYaml: readYamlList,
    now: () => new Date().toISOString(),
    signal,
  };
  const work = async (): Promise<void> => {
    const worked = await reportOf(order, ports);
    const strays = folder === null ? [] : straysIn(folder);
    if (strays.length > 0) await ports.note(strayFacts(strays));
    const report = escapedReport(worked, strays);
    const { incarnation } = order;
    const aborted = signal.aborted ? String(signal.reason) : null;
    const file: ReportFile = { id, incarnation, report, aborted, ...link.kept(), strays };
    writeReport(job.home, job.files.dir, file);
    await runners.desk.close();
  };
  return {
    check: (report) => (check === undefined ? Promise.resolve(report) : check(report)),
    setRoom: (next) => void (room = next),
    message: (message) => messages.put([message]),
    ended: work(),
  };
}

/** The attempt's report, even after an error; without secrets, because it is kept on disk. */
async function reportOf({ job }: StartOrder, ports: AttemptPorts): Promise<Report> {
  const { attempt, marker, stage } = job;
  let report: Report;
  try {
    report = await runStage(job, ports);
  } catch (error) {
    await killLeftovers({ marker });
    report = { cause: "engine_error", reason: messageOf(error) };
  }
  const said = { type: "attempt.finished", stage: stage.id, attempt, report } as const;
  const clean = cleanSignal(said, ports.runners.redact);
  return clean.type === "attempt.finished" ? clean.report : report;
}

/** Anything else than an answer is none: the attempt asks again. */
function toAnswer(value: unknown): PermissionAnswer | undefined {
  return PERMISSION_ANSWERS.find((answer) => answer === value);
}

/** An engine of an older version does not know the question, and says so: the attempt ends with it. */
function asOlderMay(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch(() => ({ type: "none" }));
}

const SHOWN_CHARS = 8 * 1024;

/** Whoever watches sees the beginning of a long text; the whole is in the attempt's own log. */
function shortened(event: ObservedEvent): ObservedEvent {
  const entries = Object.entries(event).map(([key, value]) => [
    key,
    typeof value === "string" && value.length > SHOWN_CHARS ? `${value.slice(0, SHOWN_CHARS)}…` : value,
  ]);
  return Object.fromEntries(entries) as ObservedEvent;
}
