// A worker: joins a node, takes what it has a slot for, and carries it out. It asks the node again and again; every answer renews the lease
// of its agents. Without an answer the agents end when the lease does, because the node gives their stages to others then.

import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { storeMark } from "../attempt/attempt-files.ts";
import { createCarriers } from "../carrier/open.ts";
import type { PollAnswer } from "../claim/board.ts";
import type { WorkerOrder } from "../claim/messages.ts";
import { err, ok, type Result } from "../core/result.ts";
import { WORKER_PROTOCOL, type WorkerHello } from "../core/worker/wire.ts";
import { killLeftovers } from "../runner/process/kill-tree.ts";
import { findMarked } from "../runner/process/process-table.ts";
import type { Settings } from "../settings/settings.ts";
import type { Environment } from "../settings/site.ts";
import { createWorkspaces } from "../workspace/providers.ts";
import { type ClaimWork, modeOf, startClaimWork } from "./claim-work.ts";
import type { NodeLink } from "./node-link.ts";
import { createProjects } from "./project.ts";
import { optional } from "../core/optional.ts";

export type RunWorkerOptions = {
  /** The worker's own state folder. */
  readonly home: string;
  readonly link: NodeLink;
  readonly name: string;
  readonly slots: number;
  readonly labels: readonly string[];
  /** Repositories of this machine, by the id of their project. */
  readonly projects: ReadonlyMap<string, string>;
  readonly environment: Environment;
  /** Of this machine's user: programs, their variables, enclosures. */
  readonly settings: Settings;
  readonly version: string;
  readonly log: (line: string) => void;
  /** Aborted to stop: agents are ended, and the node gives their stages to others at once. */
  readonly signal: AbortSignal;
};

/** For good: asking again changes nothing. With several nodes each must say so. */
const FATAL: ReadonlySet<string> = new Set([
  "worker_version",
  "worker_name_taken",
  "label_not_allowed",
  "auth_invalid",
  "auth_required",
  "scope_missing",
  "host_not_allowed",
]);
const RETRY_MS = 500;
const FIRST_LEASE_MS = 14_000;

export async function runWorker(options: RunWorkerOptions): Promise<Result<"stopped" | "drained">> {
  const worker = await openWorker(options);
  try {
    return await work(worker);
  } finally {
    for (const claim of worker.claims.values()) claim.lose("the worker stops");
    await Promise.all([...worker.claims.values()].map(({ done }) => done));
    worker.carriers.close();
  }
}

type Worker = RunWorkerOptions & {
  readonly hello: WorkerHello;
  readonly claims: Map<string, ClaimWork>;
  readonly carriers: ReturnType<typeof createCarriers>;
  readonly begin: (claim: string, order: WorkerOrder, node: string) => ClaimWork;
  leaseMs: number;
  node: string | null;
};

async function openWorker(options: RunWorkerOptions): Promise<Worker> {
  const { home, link, environment, settings, log } = options;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const mark = storeMark(home);
  const instance = randomBytes(16).toString("hex");
  const orders = new Map<string, WorkerOrder>();
  const claims = new Map<string, ClaimWork>();
  const carriers = createCarriers({
    home,
    environment,
    settings,
    process: "own",
    incarnation: () => instance,
    onError: (error) => log(String(error)),
    workspacesFor: ({ run, stage, attempt }) => orders.get(`${run.id}/${stage.id}/${attempt}`)?.workspaces,
    leaseMs: () => agentLease(worker.leaseMs),
  });
  // Processes of an earlier worker process: their claims are lost.
  await carriers.endOthers(new Set());
  for (const { marker } of findMarked(`${mark}/`)) await killLeftovers({ marker });
  for (const name of readdirSync(home))
    if (name.startsWith("incoming")) rmSync(join(home, name), { recursive: true, force: true });
  const projects = createProjects({ home, mapped: options.projects, link, log });
  const workspaces = (order: WorkerOrder) =>
    createWorkspaces({ home, settings: order.workspaces, environment })(modeOf(order));
  const begin = (claim: string, order: WorkerOrder, node: string): ClaimWork => {
    const { run, stage, attempt } = order.job;
    const key = `${run.id}/${stage.id}/${attempt}`;
    orders.set(key, order);
    const started = startClaimWork({
      claim,
      order,
      node,
      instance,
      mark,
      home,
      link,
      projects,
      carriers,
      workspaces,
      log,
    });
    claims.set(claim, started);
    void started.done.finally(() => {
      claims.delete(claim);
      orders.delete(key);
    });
    return started;
  };
  const { name, slots, labels, version } = options;
  const startedAt = new Date().toISOString();
  const hello = { name, instance, version, protocol: WORKER_PROTOCOL, slots, labels: [...labels], startedAt };
  const worker: Worker = { ...options, hello, claims, carriers, begin, leaseMs: FIRST_LEASE_MS, node: null };
  return worker;
}

/** Agents end before the node gives their stages away, early enough that even a killed one has exited by then. */
function agentLease(leaseMs: number): number {
  return Math.max(leaseMs - 6000, leaseMs / 2);
}

async function work(worker: Worker): Promise<Result<"stopped" | "drained">> {
  const { claims, hello, link, log, signal } = worker;
  let heardMs = performance.now();
  let isReached = true;
  let refusals = 0;
  while (!signal.aborted) {
    const held = [...claims.values()].map(({ claim, seen }) => ({ claim, seen }));
    const answer = await link.poll({ hello, node: worker.node, held, leaving: false, leaseMs: worker.leaseMs });
    if (answer.ok) {
      refusals = 0;
      if (!isReached) log(`${link.url} answers again`);
      isReached = true;
      heardMs = performance.now();
      obey(worker, answer.value);
      if (answer.value.state === "draining" && claims.size === 0) return ok("drained");
      continue;
    }
    const { code, detail, hint } = answer.error;
    refusals = FATAL.has(code) ? refusals + 1 : 0;
    if (refusals >= link.count) return err({ code, message: detail, ...optional({ hint }) });
    if (isReached) log(code === "no_workers" ? `${link.url} is on standby` : `${link.url} does not answer: ${detail}`);
    isReached = false;
    link.turn();
    if (performance.now() - heardMs > agentLease(worker.leaseMs)) giveUp(worker);
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  for (const claim of claims.values()) claim.lose("the worker stops");
  await Promise.all([...claims.values()].map(({ done }) => done));
  await link.poll({ hello, node: worker.node, held: [], leaving: true, leaseMs: worker.leaseMs });
  return ok("stopped");
}

/** The node's answer, and with it the right to continue. */
function obey(worker: Worker, { node, leaseMs, claims: told, over }: PollAnswer): void {
  const { claims } = worker;
  worker.leaseMs = leaseMs;
  if (worker.node !== node) {
    worker.node = node;
    for (const claim of claims.values()) claim.turnTo(node);
  }
  for (const id of over) claims.get(id)?.lose("claim_lost: the node has given this attempt up");
  for (const { claim: id, messages } of told) {
    const [first] = messages;
    const known = claims.get(id);
    if (known !== undefined) known.hear(messages);
    else if (first?.message.type === "start") worker.begin(id, first.message.order, node).hear(messages);
  }
  for (const claim of claims.values()) claim.renew();
}

function giveUp({ claims, link, leaseMs, log }: Worker): void {
  if (claims.size === 0) return;
  log(
    `${link.url} was not reached for ${Math.round(agentLease(leaseMs) / 1000)} s: ending ${claims.size} agents, whose stages run elsewhere`,
  );
  for (const claim of claims.values()) claim.lose("the worker could not reach its node");
}
