// Several machines on one: nodes on one Postgres and workers that join them, real processes of the real program. Each machine has a state
// folder and a clone of the project of its own. All nodes see their clone at the same path, as machines of a team do: each has its own table
// of mounts. Without the right to make one they share one clone, and only commits that the database carries are not proven then.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeMark } from "../../../src/attempt/attempt-files.ts";
import { killLeftovers } from "../../../src/runner/process/kill-tree.ts";
import { findMarked } from "../../../src/runner/process/process-table.ts";
import { openForReading } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { configure, newRemote, newRepository } from "../../harness/new-repository.ts";
import { PROGRAM } from "../../harness/program.ts";
import { until } from "../../harness/until.ts";
import { type CutWire, openWire } from "./cut-wire.ts";
import { openNetwork } from "./network.ts";
import { freePort } from "../../harness/free-port.ts";

export type ClusterOptions = {
  readonly nodes: number;
  readonly database: string;
  /** Of the user on every machine. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether the wire is a network of the kernel where this user may make one. */
  readonly network?: boolean;
};

export type Machine = {
  readonly name: string;
  readonly home: string;
  /** The running program; undefined while it is dead. */
  child: ChildProcess | undefined;
  err: string;
};

export type ClusterNode = Machine & { readonly port: number; readonly url: string };

export type Cluster = {
  readonly dir: string;
  readonly project: string;
  readonly remote: string;
  readonly nodes: readonly ClusterNode[];
  readonly workers: Machine[];
  /** Whether every node has a clone of its own. */
  readonly isApart: boolean;
  /** A way to the nodes that can be cut. */
  readonly wire: CutWire;
  /** Starts a node that is not alive; resolves when it listens. */
  up(node: ClusterNode): Promise<void>;
  /** Starts a worker that joins all nodes, over the wire or as they are. */
  join(name: string, how?: { readonly overWire?: boolean; readonly slots?: number }): Machine;
  /** Starts a worker that is not alive. */
  start(machine: Machine): void;
  /** A command on the machine of a node. */
  passrail(
    node: ClusterNode,
    args: readonly string[],
  ): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  stored<T>(read: (store: Store) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export function kill(machine: Machine, signal: NodeJS.Signals): void {
  machine.child?.kill(signal);
  if (signal === "SIGKILL") machine.child = undefined;
}

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-machines-")));
  const made = newRepository(dir);
  configure(join(made, ".git"), "user", { name: "player", email: "player@localhost" });
  configure(join(made, ".git"), "gc", { auto: "0" });
  const remote = join(dir, "remote.git");
  writePlan(made);
  newRemote(made, remote);
  writeSettings(join(dir, "config"), options.settings);
  const isApart = canMount();
  const nodes: ClusterNode[] = [];
  for (let at = 1; at <= options.nodes; at += 1) {
    const home = join(dir, `node-${at}`);
    mkdirSync(home, { mode: 0o700 });
    if (isApart) cloneOf(made, remote, join(home, "clone"));
    const port = await freePort();
    nodes.push({ name: `node-${at}`, home, port, url: `http://127.0.0.1:${port}`, child: undefined, err: "" });
  }
  const network = options.network === true ? openNetwork(dir, nodes.length) : undefined;
  const wire = network ?? (await openWire(nodes.map(({ url }) => url)));
  for (const [at, { home }] of nodes.entries())
    writeSettings(join(home, "config"), { ...options.settings, ...wire.node(at).settings });
  return clusterIn({ ...options, dir, project: made, remote, isApart, nodes, wire });
}

/** Of the user; YAML is a superset of JSON. */
function writeSettings(folder: string, settings: Readonly<Record<string, unknown>>): void {
  mkdirSync(join(folder, "passrail"), { recursive: true });
  writeFileSync(join(folder, "passrail", "passrail.yaml"), JSON.stringify(settings), { mode: 0o600 });
}

const NOTES = ["Complexity", "Scope boundaries", "Deviations", "Tests added", "Open follow-ups"];
const SPEC = `# Users

Every user has a name.

## Acceptance criteria

- the thing exists

## As-built notes

${NOTES.map((name) => `### ${name}\n\nNone\n`).join("\n")}`;
const PLAN = "# Plan\n\nComplexity: complex\n\n## Contracts\n\nGET /names gives a list.\n\n## Test plan\n\nOne test.\n";
const TASK = "# Show names\n\nDo it.\n\n## Definition of Done\n\n- [ ] the thing exists\n";

/** For the flows that build a plan. */
function writePlan(project: string): void {
  mkdirSync(join(project, "docs"));
  writeFileSync(join(project, "docs/spec.md"), SPEC);
  writeFileSync(join(project, "docs/plan.md"), PLAN);
  writeFileSync(join(project, "docs/task.md"), TASK);
  execFileSync("git", ["-C", project, "add", "-A"]);
  execFileSync("git", ["-C", project, "commit", "-q", "-m", "A plan"]);
}

/** With what the first one has fetched from the remote. */
function cloneOf(project: string, remote: string, clone: string): void {
  execFileSync("git", ["clone", "-q", remote, clone]);
  configure(join(clone, ".git"), "user", { name: "player", email: "player@localhost" });
  configure(join(clone, ".git"), "gc", { auto: "0" });
  execFileSync("git", ["-C", project, "fetch", "-q", "origin"]);
}

type Made = Omit<ClusterOptions, "nodes"> & Pick<Cluster, "dir" | "project" | "remote" | "isApart" | "nodes" | "wire">;

function clusterIn({ dir, project, remote, isApart, nodes, wire, database }: Made): Cluster {
  const workers: Machine[] = [];
  const wired = new Set<Machine>();
  const words = new Map<Machine, readonly string[]>();
  const { PASSRAIL_MARKER: _marker, ...inherited } = process.env;

  const start = (machine: Machine, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess => {
    const isNode = nodes.some(({ name }) => name === machine.name);
    const program = [process.execPath, PROGRAM, ...args];
    const { argv: through, env: withCertificate } = wired.has(machine) ? wire.worker : { argv: [], env: {} };
    const argv =
      isNode && isApart ? [...mounted(join(machine.home, "clone"), project), ...program] : [...through, ...program];
    const [command = "", ...rest] = argv;
    return spawn(command, rest, {
      cwd: isNode ? "/" : dir,
      env: {
        ...inherited,
        XDG_CONFIG_HOME: join(isNode ? machine.home : dir, "config"),
        PASSRAIL_HOME: machine.home,
        ...withCertificate,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  };
  const onNode = (node: ClusterNode, args: readonly string[]): ChildProcess =>
    start(node, ["--cwd", project, ...args], { PASSRAIL_DATABASE_URL: database });
  const watch = (machine: Machine, child: ChildProcess): void => {
    machine.child = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      machine.err = `${machine.err}${text}`.slice(-20_000);
      appendFileSync(join(dir, `${machine.name}.err`), text);
    });
    child.stdout?.resume();
    child.once("exit", () => {
      if (machine.child === child) machine.child = undefined;
    });
  };

  const cluster: Cluster = {
    dir,
    project,
    remote,
    nodes,
    workers,
    isApart,
    wire,
    async up(node) {
      watch(node, onNode(node, ["up", "--port", String(node.port), ...wire.node(nodes.indexOf(node)).args]));
      await until(
        `${node.name} listens: ${node.err}`,
        async () => {
          if (node.child === undefined) throw new Error(`${node.name} has ended: ${node.err}`);
          return (await fetch(`${node.url}/health`).catch(() => undefined)) === undefined ? undefined : true;
        },
        60_000,
      );
    },
    join(name, { overWire = false, slots = 2 } = {}) {
      const home = join(dir, name);
      const worker: Machine = { name, home, child: undefined, err: "" };
      const urls = overWire ? wire.urls : nodes.map(({ url }) => url);
      const joins = urls.flatMap((url) => ["--join", url]);
      if (overWire) wired.add(worker);
      words.set(worker, [
        "worker",
        ...joins,
        "--token-file",
        join(dir, "worker.token"),
        "--name",
        name,
        "--slots",
        String(slots),
      ]);
      workers.push(worker);
      cluster.start(worker);
      return worker;
    },
    start(machine) {
      // One that was killed twice is to be started twice.
      if (machine.child !== undefined) return;
      watch(machine, start(machine, words.get(machine) ?? [], {}));
    },
    async passrail(node, args) {
      const child = onNode(node, args);
      let [out, err] = ["", ""];
      child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
      child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      return { code, out, err };
    },
    async stored(read) {
      const environmentOf = { PASSRAIL_DATABASE_URL: database };
      const store = await openForReading({ home: join(dir, "reader"), environment: environmentOf });
      if (store === undefined) throw new Error("there is no store");
      try {
        return await read(store);
      } finally {
        store.close();
      }
    },
    async close() {
      wire.close();
      const machines = [...workers, ...nodes];
      for (const { child } of machines) child?.kill("SIGCONT");
      for (const { child } of machines) child?.kill("SIGKILL");
      for (const { home } of machines)
        for (const folder of [home, join(home, "worker")])
          for (const { marker } of findMarked(`${storeMark(folder)}/`)) await killLeftovers({ marker });
      if (process.env["PASSRAIL_KEEP"] === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return cluster;
}

/** One key for all workers: `passrail key create` on one node, known to all others. */
export async function makeKey(cluster: Cluster, node: ClusterNode): Promise<void> {
  const made = await cluster.passrail(node, ["key", "create", "workers", "--scope", "worker"]);
  if (made.code !== 0) throw new Error(made.err);
  writeFileSync(join(cluster.dir, "worker.token"), made.out, { mode: 0o600 });
}

const SCRIPT = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
const HOW: readonly (readonly string[])[] = [
  ["unshare", "--mount", "--propagation", "private"],
  ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"],
];
let how: readonly string[] | undefined;

function mounted(from: string, at: string): readonly string[] {
  return [...(how ?? []), "/bin/sh", "-c", SCRIPT, "sh", from, at];
}

function canMount(): boolean {
  how ??= HOW.find(([program = "", ...args]) => {
    const tried = spawnSync(program, [...args, "/bin/sh", "-c", "mount --bind /usr /mnt"], { stdio: "ignore" });
    return tried.status === 0;
  });
  return how !== undefined;
}

export function note(cluster: Cluster, line: string): void {
  appendFileSync(join(cluster.dir, "story"), `${new Date().toISOString()} ${line}\n`);
}

export function lines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
