// Chaos on several machines: three nodes on one Postgres, six workers, runs of shipped flows, while workers are killed and suspended, nodes
// are killed and suspended, the database crashes every five to ten seconds, and the wire of one worker is cut. The same seed tells the same story, as
// far as a machine's timing allows. Afterwards everything is mended, and every run must end as if nothing had happened.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { Store } from "../../../src/store/store.ts";
import { startPostgres } from "../../harness/postgres-server.ts";
import { randomOf } from "../../crash/seeds.ts";
import { answerOn } from "./answer.ts";
import { type Cluster, type ClusterNode, kill, lines, makeKey, note, openCluster } from "./cluster.ts";
import { type ChaosPlan, plansOf } from "./plans.ts";

export type ChaosOptions = {
  readonly seed: number;
  readonly runs: number;
  readonly workers: number;
  /** How long things go wrong. */
  readonly forMs: number;
  /** How long everything may take to end after it is mended. */
  readonly healMs: number;
};

export type ChaosResult = {
  readonly seed: number;
  readonly story: readonly string[];
  readonly violations: readonly string[];
  readonly interruptions: number;
  readonly takeovers: number;
  readonly healedMs: number;
  /** Whether the cut wire was a network of the kernel. */
  readonly isNetwork: boolean;
};

const LEASE = "6s";

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const random = randomOf(options.seed);
  const server = await startPostgres();
  const settings = { workers: { place: "workers-only", lease: LEASE } };
  const cluster = await openCluster({ nodes: 3, database: server.url, settings, network: true });
  const { wire } = cluster;
  try {
    await Promise.all(cluster.nodes.map((node) => cluster.up(node)));
    await makeKey(cluster, cluster.nodes[0] as ClusterNode);
    for (let at = 1; at <= options.workers; at += 1) cluster.join(`box-${at}`, { overWire: at === 1 });
    const plans = plansOf(cluster.dir, options.runs, random);
    const stop = new AbortController();
    const answering = answerAll(cluster, stop.signal);
    const starting = startAll(cluster, plans);
    const story = await goWrong({ cluster, restart: () => server.restart(), random, forMs: options.forMs });
    wire.mend();
    await starting;
    const beganMs = performance.now();
    const isHealed = await untilEnded(cluster, plans, options.healMs);
    const healedMs = Math.round(performance.now() - beganMs);
    stop.abort();
    await answering;
    const seen = await inspect(cluster, plans);
    const late = isHealed ? [] : [`not everything has ended ${options.healMs} ms after it was mended`];
    return {
      seed: options.seed,
      story,
      healedMs,
      isNetwork: wire.isNetwork,
      ...seen,
      violations: [...late, ...seen.violations],
    };
  } finally {
    await cluster.close();
    await server.stop();
  }
}

type Wrong = {
  readonly cluster: Cluster;
  readonly restart: () => Promise<void>;
  readonly random: () => number;
  readonly forMs: number;
};

/** What can go wrong, and how it is mended later. */
async function goWrong({ cluster, restart, random, forMs }: Wrong): Promise<readonly string[]> {
  const { wire } = cluster;
  const story: string[] = [];
  const mending: Promise<unknown>[] = [];
  const say = (line: string): void => {
    story.push(line);
    note(cluster, line);
  };
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const ownRandom = randomOf(Math.floor(random() * 2 ** 31));
  const crashing = crashAgain({ restart, random: ownRandom, until: performance.now() + forMs, say });
  const later = (ms: number, act: () => unknown): void => void mending.push(delay(ms).then(act));
  const until = performance.now() + forMs;
  while (performance.now() < until) {
    await delay(300 + random() * 1500);
    const [what, ms] = [random(), 500 + random() * 2500];
    const longMs = 1000 + random() * 9000;
    const worker = pick(cluster.workers);
    const node = pick(cluster.nodes);
    if (what < 0.3) {
      say(`${worker.name} is killed`);
      kill(worker, "SIGKILL");
      later(ms, () => cluster.start(worker));
    } else if (what < 0.5) {
      say(`${worker.name} is suspended for ${Math.round(longMs)} ms`);
      const { child } = worker;
      child?.kill("SIGSTOP");
      later(longMs, () => child?.kill("SIGCONT"));
    } else if (what < 0.7) {
      say(`${node.name} is killed`);
      kill(node, "SIGKILL");
      later(ms, () => revive(cluster, node));
    } else if (what < 0.82) {
      say(`${node.name} is suspended for ${Math.round(longMs)} ms`);
      const { child } = node;
      child?.kill("SIGSTOP");
      later(longMs, () => child?.kill("SIGCONT"));
    } else {
      say(`the wire of box-1 is cut for ${Math.round(longMs)} ms`);
      wire.cut();
      later(longMs, () => wire.mend());
    }
  }
  await Promise.all([...mending, crashing]);
  return story;
}

type Crashing = Pick<Wrong, "restart" | "random"> & {
  readonly until: number;
  readonly say: (line: string) => void;
};

/** The database ends every five to ten seconds, beside everything else. */
async function crashAgain({ restart, random, until, say }: Crashing): Promise<void> {
  for (;;) {
    const afterMs = 5000 + random() * 5000;
    if (performance.now() + afterMs > until) return;
    await delay(afterMs);
    say("the database crashes");
    await restart();
  }
}

/** A node that is not alive is started again until it stays. */
async function revive(cluster: Cluster, node: ClusterNode): Promise<void> {
  while (node.child === undefined) await cluster.up(node).catch(() => delay(300));
}

/** A person at each node starts their share, one run after the other. */
async function startAll(cluster: Cluster, plans: readonly ChaosPlan[]): Promise<void> {
  const { nodes } = cluster;
  const startSome = async (first: number): Promise<void> => {
    for (let at = first; at < plans.length; at += nodes.length) await start(cluster, plans[at] as ChaosPlan, at);
  };
  await Promise.all(nodes.map((_, first) => startSome(first)));
}

/** Where the node is dead, at the next one. */
async function start(cluster: Cluster, plan: ChaosPlan, at: number): Promise<void> {
  for (let tried = 0; ; tried += 1) {
    const node = cluster.nodes[(at + tried) % cluster.nodes.length] as ClusterNode;
    const { code, err } = await cluster.passrail(node, plan.words);
    if (code === 0) return;
    note(cluster, `${plan.id} was not started: ${err.trim().slice(0, 300)}`);
    if (tried > 60) throw new Error(`${plan.id} cannot be started: ${err}`);
    await delay(500);
  }
}

/** People answer on any node that is alive. */
async function answerAll(cluster: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(200);
    for (const node of cluster.nodes) {
      if (node.child === undefined || signal.aborted) continue;
      const done = await answerOn(node).catch(() => false);
      if (done) break;
    }
  }
}

async function untilEnded(cluster: Cluster, plans: readonly ChaosPlan[], healMs: number): Promise<boolean> {
  const until = performance.now() + healMs;
  while (performance.now() < until) {
    for (const node of cluster.nodes) if (node.child === undefined) await revive(cluster, node);
    for (const worker of cluster.workers) if (worker.child === undefined) cluster.start(worker);
    const runs = await cluster.stored((store) => store.listRuns({ limit: 1000 })).catch(() => []);
    const ended = runs.filter(({ status }) => status === "completed" || status === "canceled" || status === "stopped");
    if (runs.length >= plans.length && ended.length === runs.length) return true;
    await delay(300);
  }
  return false;
}

async function inspect(
  cluster: Cluster,
  plans: readonly ChaosPlan[],
): Promise<Pick<ChaosResult, "violations" | "interruptions" | "takeovers">> {
  return cluster.stored(async (store) => {
    const violations: string[] = [];
    const all = (await store.events({ after: 0, limit: 100_000 })).map(({ runId, event }) => ({ runId, event }));
    const runs = await store.listRuns({ limit: 1000 });
    if (runs.length !== plans.length) violations.push(`${runs.length} runs were made of ${plans.length}`);
    const held = heldBy(cluster);
    for (const { what, runId } of await store.verify()) violations.push(`${runId}: ${what}`);
    for (const plan of plans) {
      const run = runs.find(({ subject }) => subject.id === plan.id);
      if (run === undefined) {
        violations.push(`${plan.id} has no run`);
        continue;
      }
      const events = all.flatMap(({ runId, event }) => (runId === run.id ? [event] : []));
      if (run.status !== "completed") violations.push(`${plan.id} is ${run.status} (${lastReason(events)})`);
      violations.push(...decided(plan, events).map((what) => `${plan.id}: ${what}`));
      violations.push(...played(cluster, plan).map((what) => `${plan.id}: ${what}`));
      violations.push(...(await reachable(held, store, run.id)).map((what) => `${plan.id}: ${what}`));
    }
    const interruptions = all.filter(({ event }) => event.type === "stage.interrupted").length;
    const said = cluster.nodes.flatMap(({ name }) => lines(join(cluster.dir, `${name}.err`)));
    const takeovers = said.filter((line) => line.startsWith("taking over")).length;
    return { violations, interruptions, takeovers };
  });
}

function lastReason(events: readonly RunEvent[]): string {
  const said = events.findLast((event) => "reason" in event || event.type === "stage.finished");
  return said === undefined ? "no reason" : JSON.stringify(said).slice(0, 400);
}

/** Each verdict once, one living attempt of a stage at a time, and as many passages as without chaos. */
function decided({ finishes }: ChaosPlan, events: readonly RunEvent[]): readonly string[] {
  const wrong: string[] = [];
  const living = new Map<string, number>();
  const finished = new Map<string, number>();
  const seen = new Set<string>();
  for (const event of events) {
    if (event.type === "stage.started") {
      const other = living.get(event.stage);
      if (other !== undefined)
        wrong.push(`attempt ${event.attempt} of ${event.stage} began while ${other} was running`);
      living.set(event.stage, event.attempt);
    }
    if (event.type === "stage.finished" || event.type === "stage.interrupted" || event.type === "stage.canceled")
      living.delete(event.stage);
    if (event.type !== "stage.finished") continue;
    const key = `${event.stage}/${event.attempt}`;
    if (seen.has(key)) wrong.push(`${key} finished twice`);
    seen.add(key);
    if (event.outcome.health !== "complete")
      wrong.push(`${key} is ${event.outcome.health}: ${JSON.stringify(event.outcome).slice(0, 300)}`);
    finished.set(event.stage, (finished.get(event.stage) ?? 0) + 1);
  }
  for (const [stage, times] of Object.entries(finishes))
    if (finished.get(stage) !== times) wrong.push(`${stage} finished ${finished.get(stage) ?? 0} times, not ${times}`);
  return wrong;
}

/** What the agents themselves saw: nobody beside them, and no attempt started twice. */
function played({ dir }: Cluster, { id }: ChaosPlan): readonly string[] {
  const folder = join(dir, "script", id);
  const calls = lines(join(folder, "calls"));
  const twice = calls.filter((call, at) => calls.indexOf(call) !== at);
  return [...lines(join(folder, "overlaps")), ...twice.map((call) => `${call} was started twice`)];
}

/** The commits of each node's repository that are below a ref. */
function heldBy({ nodes, project, isApart }: Cluster): readonly ReadonlySet<string>[] {
  const clones = isApart ? nodes.map(({ home }) => join(home, "clone")) : [project];
  return clones.map((clone) => new Set(git(clone, "rev-list", "--all")));
}

/** Every commit of a finished attempt is in the repository of a node. */
async function reachable(
  held: readonly ReadonlySet<string>[],
  store: Store,
  runId: string,
): Promise<readonly string[]> {
  const commits = (await store.attempts(runId)).flatMap((record) => {
    const { to } = attemptFacts(record);
    return record.status === "done" && to !== null ? [to] : [];
  });
  return [...new Set(commits)].flatMap((commit) =>
    held.some((each) => each.has(commit)) ? [] : [`${commit} is in no repository`],
  );
}

function git(dir: string, ...args: readonly string[]): readonly string[] {
  return execFileSync("git", ["-C", dir, ...args], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
    .split("\n")
    .filter(Boolean);
}
