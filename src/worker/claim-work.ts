// One claim on its worker, from the order to the report: the same carrier as on a node carries it out, and the
// carrier's requests to its engine go to the node. The agent works only as long as the node's lease is renewed.

import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { attemptFiles, channelFiles, markerOf } from "../attempt/attempt-files.ts";
import type { CarriedEnd, CarriedPorts, LocalCarriers } from "../attempt/carriers.ts";
import type { AttemptJob } from "../attempt/job.ts";
import { createMailbox } from "../attempt/mailbox.ts";
import type { Numbered, ToWorker, WorkerOrder } from "../claim/messages.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { CachedCheck } from "../core/flow/check-result.ts";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { JsonObject } from "../core/json.ts";
import { messageOf } from "../core/result.ts";
import { toLiveAnswer } from "../core/run/live-question.ts";
import { waitingMessages } from "../core/run/message.ts";
import { PERMISSION_ANSWERS, type PermissionAnswer } from "../core/run/run.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import { observedThere } from "../core/worker/observed.ts";
import type { FromWorker, WorkerQuestion } from "../core/worker/wire.ts";
import { makeFolders, writeConfined } from "../file/confined.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import { keepWork, sendWork } from "./kept-work.ts";
import { type RecordMirror, openMirror } from "./mirror.ts";
import type { NodeLink } from "./node-link.ts";
import { clearBranch, type OpenedProject, type Projects } from "./project.ts";
import { createUpstream, type Upstream } from "./upstream.ts";

export type ClaimWork = {
  readonly claim: string;
  /** The number of the last message of this node. */
  readonly seen: number;
  hear(messages: readonly Numbered[]): void;
  /** The node has heard of the worker: the agent may work on. */
  renew(): void;
  /** Another process is the node now. */
  turnTo(node: string): void;
  /** The claim is no longer good: ends the agent and keeps its work. */
  lose(why: string): void;
  /** Resolves when all its processes have ended. */
  readonly done: Promise<void>;
};

export type ClaimWorkOptions = {
  readonly claim: string;
  readonly order: WorkerOrder;
  readonly node: string;
  readonly instance: string;
  /** Names the processes of this worker. */
  readonly mark: string;
  readonly home: string;
  readonly link: NodeLink;
  readonly projects: Projects;
  readonly carriers: LocalCarriers;
  readonly workspaces: (order: WorkerOrder) => Workspaces;
  readonly log: (line: string) => void;
};

type State = {
  seen: number;
  lost: string | null;
  room: AttemptRoom;
  spent: ReportedUsage | null;
  check: ((report: Report) => Promise<Report>) | null;
  leftover: string | null;
  asked: number;
  renew: () => void;
  onRoom: (room: AttemptRoom) => void;
};

export function startClaimWork(options: ClaimWorkOptions): ClaimWork {
  const { claim, order, node, instance, link } = options;
  const abort = new AbortController();
  const state: State = {
    seen: 0,
    lost: null,
    room: order.room,
    spent: null,
    check: null,
    leftover: null,
    asked: 0,
    renew: () => {},
    onRoom: () => {},
  };
  const lose = (why: string): void => {
    if (state.lost !== null) return;
    state.lost = why;
    upstream.close();
    for (const { resolve } of asks.values()) resolve(undefined);
    asks.clear();
    abort.abort(why);
  };
  const upstream = createUpstream({ link, claim, instance, node, onLost: lose });
  const asks = new Map<number, Ask>();
  const working: Working = {
    ...options,
    state,
    abort,
    upstream,
    asks,
    mirror: null,
    messages: mailboxOf(order, upstream),
  };
  const done = work(working).catch((error: unknown) => {
    options.log(`${nameOf(order)}: ${messageOf(error)}`);
    upstream.push({ type: "gave-up", why: messageOf(error).slice(0, 2000) });
    return upstream.flushed().catch(() => undefined);
  });
  return {
    claim,
    get seen() {
      return state.seen;
    },
    hear(messages) {
      for (const { n, message } of messages) {
        if (n !== state.seen + 1) continue;
        state.seen = n;
        hear(working, message);
      }
    },
    renew: () => state.renew(),
    turnTo(next) {
      state.seen = 0;
      const again: FromWorker[] = [...asks].map(([ask, { question }]) => ({ type: "ask", ask, question }));
      if (state.spent !== null) again.push({ type: "spent", reported: state.spent });
      if (state.check !== null) again.push({ type: "check-offered" });
      upstream.turnTo(next, again);
    },
    lose,
    done,
  };
}

type Ask = { readonly question: WorkerQuestion; readonly resolve: (value: unknown) => void };

type Working = ClaimWorkOptions & {
  readonly state: State;
  readonly abort: AbortController;
  readonly upstream: Upstream;
  readonly asks: Map<number, Ask>;
  readonly messages: CarriedPorts["messages"];
  mirror: RecordMirror | null;
};

function mailboxOf({ job }: WorkerOrder, upstream: Pick<Upstream, "push">): CarriedPorts["messages"] {
  return createMailbox(waitingMessages(job.run, job.stage.id), async (number, way) =>
    upstream.push({ type: "heard", number, way }),
  );
}

function hear({ state, abort, upstream, asks, messages, mirror }: Working, message: ToWorker): void {
  switch (message.type) {
    case "start":
      return;
    case "abort":
      return abort.abort(message.reason);
    case "resend":
      return mirror?.resend(message.name, message.size);
    case "room":
      state.room = message.room;
      return state.onRoom(message.room);
    case "message":
      return messages.put([message.message]);
    case "answer":
      asks.get(message.ask)?.resolve(message.error === undefined ? message.value : undefined);
      return void asks.delete(message.ask);
    case "check":
      return void checked(state, message.report).then((report) =>
        upstream.push({ type: "checked", check: message.check, report }),
      );
  }
}

async function checked({ check }: State, report: Report): Promise<Report> {
  try {
    return check === null ? report : await check(report);
  } catch (error) {
    return { ...report, cause: "engine_error", reason: messageOf(error) };
  }
}

async function work(working: Working): Promise<void> {
  const { order, home, projects, carriers, upstream, abort, claim, log } = working;
  const workspaces = working.workspaces(order);
  const project = await projects.open(claim, order, abort.signal);
  const cleared = project.ok ? await clearBranch(workspaces, project.value.repository, order) : project;
  if (!project.ok || !cleared.ok) {
    const { code, message } = project.ok ? (cleared.ok ? UNKNOWN : cleared.error) : project.error;
    return tell(working, { cause: code, reason: message }, null);
  }
  for (const { path, text } of order.texts) writeText(home, order, path, text);
  const job = jobOf(working, project.value);
  log(`${nameOf(order)} begins (claim ${claim})`);
  const mirror = openMirror(job.files.dir, upstream);
  working.mirror = mirror;
  let end: CarriedEnd;
  try {
    end = await carriers.carryOut(job, portsOf(working));
  } finally {
    mirror.stop();
  }
  await conclude(working, { project: project.value, workspaces, mirror, job }, end);
}

const UNKNOWN = { code: "engine_error", message: "the workspace could not be prepared" };

type Concluding = {
  readonly project: OpenedProject;
  readonly workspaces: Workspaces;
  readonly mirror: RecordMirror;
  readonly job: AttemptJob;
};

/** The work gets its ref first, then the node its files, commits and report. */
async function conclude(working: Working, { project, workspaces, mirror }: Concluding, end: CarriedEnd): Promise<void> {
  const { order, home, claim, state, upstream, log } = working;
  const kept = await keepWork(workspaces, project, order, state.leftover);
  const where = kept.ok && kept.value !== null ? `; its work is kept under ${kept.value.ref}` : "";
  if (state.lost !== null || end.type !== "reported") {
    const why = state.lost ?? (end.type === "lost" ? end.why : "it was let go");
    log(`${nameOf(order)} ended without a report: ${why}${where}`);
    if (state.lost !== null) return;
    mirror.look(true);
    upstream.push({ type: "gave-up", why: why.slice(0, 2000) });
    return upstream.flushed().catch(() => undefined);
  }
  mirror.look(true);
  const file = join(home, "incoming", `${claim}.bundle`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const work = kept.ok ? kept.value : null;
    const sent = work === null ? kept : await sendWork(project, work, order.start.commit, file, upstream);
    const problem = kept.ok ? (sent.ok ? null : sent.error.message) : kept.error.message;
    await tell(working, end.report, work, problem);
    log(`${nameOf(order)} has ended: ${end.report.verdict ?? end.report.cause ?? "reported"}${where}`);
  } finally {
    rmSync(file, { force: true });
  }
}

const REPORT_CHARS = 600 * 1024;

/** Resolves when the node has it, or when the claim is lost. */
async function tell(
  { upstream }: Working,
  report: Report,
  work: { readonly tip: string; readonly work: string } | null,
  problem: string | null = null,
): Promise<void> {
  const isTooLarge = JSON.stringify(report).length > REPORT_CHARS;
  const said: Report = isTooLarge
    ? { cause: "report_too_large", reason: `the report has more than ${REPORT_CHARS} characters` }
    : report;
  upstream.push({
    type: "report",
    report: said,
    tip: work?.tip ?? null,
    work: work?.work ?? null,
    problem: problem?.slice(0, 2000) ?? null,
  });
  await upstream.flushed().catch(() => undefined);
}

/** The job as this machine carries it out. */
function jobOf({ order, home, link, instance, mark }: Working, { folder }: OpenedProject): AttemptJob {
  const { run, stage, attempt } = order.job;
  return {
    ...order.job,
    home,
    project: folder,
    files: channelFiles(attemptFiles(home, run.id, stage.id, attempt), instance),
    url: order.job.token === "" ? "" : link.url,
    marker: markerOf(mark, run.id, stage.id, attempt),
    start: order.start,
  };
}

function portsOf({ order, state, abort, upstream, asks, messages }: Working): CarriedPorts {
  const ask = (question: WorkerQuestion): Promise<unknown> =>
    new Promise((resolve) => {
      if (state.lost !== null) return resolve(undefined);
      state.asked += 1;
      asks.set(state.asked, { question, resolve });
      upstream.push({ type: "ask", ask: state.asked, question });
    });
  const toAnswer = (value: unknown): PermissionAnswer | undefined =>
    PERMISSION_ANSWERS.find((answer) => answer === value);
  return {
    earlierAttempts: async () => order.earlier,
    // The worker itself knows its processes; the node gets the facts when it is reached.
    async note(facts: JsonObject) {
      if (typeof facts["leftover"] === "string") state.leftover = facts["leftover"];
      upstream.push({ type: "note", facts: JSON.parse(JSON.stringify(facts)) as JsonObject as never });
    },
    isSettled: async () => (await ask({ about: "settled" })) === true,
    checkCache: {
      find: async (key, now) =>
        ((await ask({ about: "cached-check", key, now })) as CachedCheck | null | undefined) ?? undefined,
      // A worker's result of a check counts only for its own attempt.
      save: async () => {},
    },
    offerCheck(check) {
      state.check = check;
      upstream.push({ type: "check-offered" });
    },
    messages,
    askPermission: async (question) => toAnswer(await ask({ about: "permission", question: { ...question } })),
    expirePermission: async (request) => toAnswer(await ask({ about: "permission-expired", request })),
    askQuestion: async (question) => toLiveAnswer(await ask({ about: "question", question: { ...question } })),
    expireQuestion: async (request) => toLiveAnswer(await ask({ about: "question-expired", request })),
    room: () => state.room,
    watchRoom: (onRoom) => void (state.onRoom = onRoom),
    watchLease: (onRenewed) => void (state.renew = onRenewed),
    offerLeave: () => {},
    spent(reported) {
      state.spent = reported;
      upstream.push({ type: "spent", reported });
    },
    observed(event) {
      if (upstream.length < OBSERVED_QUEUE) upstream.push({ type: "observed", event: observedThere(event) });
    },
    signal: abort.signal,
  };
}

/** Events are shown, not stored: where the node is not reached they are dropped. */
const OBSERVED_QUEUE = 100;

const TEXT_PATH = /^(?:pinned|[A-Za-z0-9][A-Za-z0-9._-]{0,120})(?:\/result)?\/[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/u;

function writeText(home: string, { job: { run } }: WorkerOrder, path: string, text: string): void {
  if (!TEXT_PATH.test(path)) return;
  const file = join(home, "runs", run.id, path);
  makeFolders(home, dirname(file), 0o700);
  writeConfined(home, file, text);
}

function nameOf({ job: { run, stage, attempt } }: WorkerOrder): string {
  return `${run.id}: ${stage.id}, attempt ${attempt}`;
}

export function modeOf({ job }: WorkerOrder) {
  return workspaceMode(job.resolved, job.run);
}
