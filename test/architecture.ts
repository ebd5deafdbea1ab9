// The law of imports, as data: layers of folders, and inside every folder no cycle between its children. `violations` applies it to the
// import lines, types included. It reads text, not types, and is strict where it cannot tell: an import in a comment at the start of a line counts.

import { isBuiltin } from "node:module";
import { posix } from "node:path";

/** Path from the root of the repository (src/core/run/run.ts) -> text of the file. */
export type Files = ReadonlyMap<string, string>;

export type Room = {
  readonly name: string;
  readonly holds: string;
  /** Rooms of the same layer that it may import all the same. */
  readonly beside?: readonly string[];
  /** Of these lower rooms it may import nothing but the ports. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
};

/** From the bottom up. A room may import every room of a lower layer, and beside it only what it names. */
const LAYERS: readonly (readonly Room[])[] = [
  [
    {
      name: "core",
      holds: "pure data and decisions: what things are and what follows from what. Imports zod and itself",
    },
  ],
  [{ name: "file", holds: "doubtful files, read and written safely: text, YAML, front matter, the journal" }],
  [
    { name: "settings", holds: "settings files and where each value came from; one schema file per subject" },
    { name: "git", holds: "the one hardened git: repository, branch names, diff, snapshot, pin" },
  ],
  [
    { name: "catalog", holds: "flows, agents and prompts from disk, the project's over the shipped ones" },
    { name: "store", holds: "the port on one page (`store.ts`), its conformance suite, SQLite, Postgres" },
  ],
  [
    { name: "workspace", holds: "where an attempt works: directory, worktree, clone, `sandbox/`" },
    {
      name: "runner",
      holds:
        "who plays an agent: the port, `process/`, one folder per vendor, `desk/` (the MCP server of a running attempt)",
    },
    { name: "forge", holds: "where finished work goes: local, remote, GitHub" },
    { name: "notify", holds: "notifications to people: a command, signed webhooks with a delivery log" },
    { name: "mirror", holds: "the status of features and their handoffs, copied to a database elsewhere" },
    {
      name: "tracker",
      holds: "issue trackers that tickets come from: the port, GitHub, Linear, Jira",
      beside: ["forge"],
    },
  ],
  [
    {
      name: "gateway",
      holds:
        "the proxy of one attempt: its agent's requests to models with keys added, counted and priced; other hosts by list. Knows no store",
      only: { store: [], workspace: [], forge: [], notify: ["address.ts"], catalog: [], mirror: [] },
    },
  ],
  [
    {
      name: "attempt",
      holds: "one attempt from start to report: workspace, prompt, conversation, verdict, report. Knows no store",
      only: { store: [], workspace: ["workspace.ts"], forge: [], notify: [], catalog: [] },
    },
  ],
  [
    {
      name: "carrier",
      holds: "one attempt in a process of its own: its program, its socket, its report on disk. Knows no store",
      only: { store: [], forge: [], notify: [], catalog: [] },
    },
  ],
  [
    {
      name: "claim",
      holds:
        "attempts that workers on other machines carry out: who has joined, claims and their fences, commits in and out. Knows no store",
      only: { store: [], forge: [], notify: [], catalog: [] },
    },
  ],
  [
    {
      name: "engine",
      holds: "load, decide, commit, schedule; recovers; performs what is recorded. Knows adapters by their ports",
      only: {
        store: ["store.ts", "flow-of.ts"],
        workspace: ["workspace.ts"],
        runner: ["runner.ts", "runners.ts"],
        forge: ["forge.ts"],
        notify: ["notify.ts"],
        catalog: [],
      },
    },
  ],
  [
    {
      name: "app",
      holds:
        "the use cases: start a run, answer an item, control a run, find, describe. The only callers of the engine",
    },
  ],
  [{ name: "ticket", holds: "from a request to merged work: `file/` `intake/` `pick/` `mirror/` `land/` `track/`" }],
  [{ name: "trigger", holds: "schedules, changed files and labelled issues that start runs" }],
  [{ name: "http", holds: "`contract/` `client/` `mcp/` (for a person's own agent) `server/` `webhooks/`" }],
  [
    {
      name: "worker",
      holds:
        "the program of a worker: joins a node over HTTP, carries out its claims here, sends back log, commits and report",
      only: { store: ["sqlite/lock.ts"], engine: [], app: [], ticket: [], trigger: [] },
    },
  ],
  [{ name: "compose.ts", holds: "builds the object graph: open, act, perform, close" }],
  [{ name: "demo", holds: "what `npm start` shows" }],
  [{ name: "daemon", holds: "engine and server as one process: its life, note, log, address" }],
  [{ name: "cli", holds: "the command line: a command per file, flags beside it, `terminal/`" }],
  [{ name: "index.ts", holds: "the public door of the package" }],
];

/** What a room may import besides other rooms; without an entry: every package and Node. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  core: ["zod"],
  "http/contract": ["zod"],
  "http/client": ["zod"],
};

/** The dashboard, from the bottom up; folders that are not named here are subjects, between `ui` and `frame`. */
const WEB_LAYERS: readonly string[] = ["base", "ui", "*", "frame", "main.tsx"];
const WEB_MAY = ["core", "http/contract", "http/client"];

/** One sentence per import that the law does not allow, and one per cycle. */
export function violations(files: Files): string[] {
  return [...files].flatMap(([path, text]) => importViolations(path, text)).concat(cycles(files));
}

function importViolations(path: string, text: string): string[] {
  const here = path.startsWith("web/") ? `web/src/${webPart(path)}` : roomOf(path);
  if (!path.startsWith("web/") && layerOf(here) === -1)
    return [`${path}: "${here}" is in no layer of test/architecture.ts; say there what it is for`];
  return importsOf(text).flatMap(({ from }) => {
    const reason = path.startsWith("web/") ? refuseWeb(path, from) : refuse(path, here, from);
    return reason === null ? [] : [`${path}: ${here} may not import ${from}: ${reason}`];
  });
}

function refuse(path: string, room: string, from: string): string | null {
  if (from === COMPUTED) return "a computed path cannot be checked";
  const pure = pureRule(path);
  if (!from.startsWith(".")) {
    if (pure === undefined) return null;
    if (isBuiltin(from)) return "it is pure";
    return pure.includes(packageName(from)) ? null : "it knows only the packages of the table";
  }
  const target = targetOf(path, from);
  if (!isSource(target)) return "it is outside of the source";
  const other = roomOf(target);
  if (other === room) return null;
  const below = layerOf(other);
  const own = LAYERS.flat().find(({ name }) => name === room);
  if (below === -1 || (below >= layerOf(room) && own?.beside?.includes(other) !== true))
    return "the direction is wrong";
  const ports = own?.only?.[other];
  return ports === undefined || ports.some((port) => target === `src/${other}/${port}`)
    ? null
    : "only its port is known here";
}

function refuseWeb(path: string, from: string): string | null {
  if (from === COMPUTED) return "a computed path cannot be checked";
  if (!from.startsWith(".")) return isBuiltin(from) ? "it runs in a browser" : null;
  // The bundler's words behind a path (`?worker&url`) say how, not what.
  const target = targetOf(path, from);
  if (target.endsWith(".css")) return null;
  if (!isSource(target)) return "it is outside of the source";
  if (target.startsWith("src/"))
    return WEB_MAY.some((entry) => target.startsWith(`src/${entry}/`)) ? null : "the direction is wrong";
  const [here, there] = [webLayer(webPart(path)), webLayer(webPart(target))];
  return there > here ? "the direction is wrong" : null;
}

/** How pages would come to load a schema: zod compiles code, and the dashboard's Content-Security-Policy forbids that. */
export function schemasInPages(files: Files): string[] {
  const cameFrom = new Map([...files.keys()].filter((path) => path.startsWith("web/")).map((path) => [path, ""]));
  const found: string[] = [];
  for (const path of cameFrom.keys()) {
    for (const { from, typeOnly } of importsOf(files.get(path) ?? "")) {
      if (typeOnly) continue;
      if (packageName(from) === "zod") found.push(wayTo(path, cameFrom));
      const target = targetOf(path, from);
      if (from.startsWith(".") && files.has(target) && !cameFrom.has(target)) cameFrom.set(target, path);
    }
  }
  return found;
}

function wayTo(path: string, cameFrom: ReadonlyMap<string, string>): string {
  const before = cameFrom.get(path) ?? "";
  return before === "" ? path : `${wayTo(before, cameFrom)} → ${path}`;
}

/** At every folder its children, files and folders alike, must form no cycle. So no two folders import each other, at any depth. */
export function cycles(files: Files): string[] {
  const levels = new Map<string, Map<string, Map<string, string>>>();
  for (const [path, text] of files) {
    for (const { from } of importsOf(text)) {
      if (!from.startsWith(".")) continue;
      const target = targetOf(path, from);
      if (!files.has(target) || target === path) continue;
      const [here, there] = [path.split("/"), target.split("/")];
      const at = here.findIndex((part, index) => part !== there[index]);
      const level = here.slice(0, at).join("/");
      const graph = levels.get(level) ?? new Map<string, Map<string, string>>();
      levels.set(level, graph);
      const edges = graph.get(here[at] ?? "") ?? new Map<string, string>();
      graph.set(here[at] ?? "", edges);
      edges.set(there[at] ?? "", `${path} imports ${target}`);
    }
  }
  return [...levels].flatMap(([level, graph]) => cyclesAt(level, graph));
}

function cyclesAt(level: string, graph: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  const found: string[] = [];
  const state = new Map<string, "open" | "done">();
  const way: string[] = [];
  const visit = (node: string): void => {
    state.set(node, "open");
    way.push(node);
    for (const next of graph.get(node)?.keys() ?? []) {
      if (state.get(next) === undefined) visit(next);
      else if (state.get(next) === "open")
        found.push(describeCycle(level, graph, [...way.slice(way.indexOf(next)), next]));
    }
    way.pop();
    state.set(node, "done");
  };
  for (const node of graph.keys()) if (state.get(node) === undefined) visit(node);
  return found;
}

function describeCycle(
  level: string,
  graph: ReadonlyMap<string, ReadonlyMap<string, string>>,
  way: readonly string[],
): string {
  const edges = way.slice(1).map((node, index) => graph.get(way[index] ?? "")?.get(node) ?? "");
  return `${level}: cycle ${way.join(" → ")} (${edges.join("; ")})`;
}

/** Exported types and interfaces whose name exists more than once: one word per thing. */
export function repeatedTypeNames(files: Files): string[] {
  const places = new Map<string, string[]>();
  for (const [path, text] of files)
    for (const [, name = ""] of text.matchAll(/^export (?:type|interface) (\w+)\b(?! *,)/gmu))
      places.set(name, [...(places.get(name) ?? []), path]);
  return [...places].flatMap(([name, paths]) => (paths.length > 1 ? [`${name}: ${paths.join(", ")}`] : []));
}

/** The rows of the table in ARCHITECTURE.md. */
export function layerTable(): string {
  const rows = LAYERS.toReversed().flatMap((layer, index) =>
    layer.map(({ name, holds }) => `| ${LAYERS.length - index} | \`src/${name}\` | ${holds} |`),
  );
  return ["| layer | room | holds |", "|---|---|---|", ...rows].join("\n");
}

type Import = { readonly from: string; readonly typeOnly: boolean };

const COMPUTED = "a computed path";

// A clause holds names, braces, white space and comments. None of these begins like another, so nothing is tried twice.
const CLAUSE = String.raw`(?:[\w$*{},\s]|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*?`;
const STATIC = new RegExp(String.raw`^[ \t]*(?:import|export)\b(\s+type\s)?${CLAUSE}\bfrom\s*["']([^"']+)["']`, "gm");
const SIDE_EFFECT = /^[ \t]*import\s*["']([^"']+)["']/gm;
const DYNAMIC = /\b(typeof\s+)?import\(\s*(?:["'`]([^"'`$]+)["'`]|(?=[^\s)]))/g;
const REQUIRE = /\brequire\(\s*["'`]([^"'`]+)["'`]/g;

/** Every `import … from`, `export … from`, `import "x"`, `import("x")` and `require("x")` of a file. */
export function importsOf(text: string): Import[] {
  return [
    ...Array.from(text.matchAll(STATIC), ([, type, from = COMPUTED]) => ({ from, typeOnly: type !== undefined })),
    ...[SIDE_EFFECT, REQUIRE].flatMap((pattern) =>
      Array.from(text.matchAll(pattern), ([, from = COMPUTED]) => ({ from, typeOnly: false })),
    ),
    ...Array.from(text.matchAll(DYNAMIC), ([, type, from = COMPUTED]) => ({ from, typeOnly: type !== undefined })),
  ];
}

/** Test files may import what they need. */
export function isSource(path: string): boolean {
  return /^(src|web\/src)\/.+\.tsx?$/.test(path) && !/\.(test|testsuite)\.tsx?$/.test(path);
}

function targetOf(path: string, from: string): string {
  return posix.join(posix.dirname(path), from.replace(/\?.*$/u, ""));
}

/** A folder of src/, or a file directly in it. */
function roomOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function layerOf(room: string): number {
  return LAYERS.findIndex((layer) => layer.some(({ name }) => name === room));
}

function pureRule(path: string): readonly string[] | undefined {
  return Object.entries(PURE).find(([folder]) => path.startsWith(`src/${folder}/`))?.[1];
}

function webPart(path: string): string {
  return path.split("/")[2] ?? "";
}

function webLayer(part: string): number {
  const at = WEB_LAYERS.indexOf(part);
  return at === -1 ? WEB_LAYERS.indexOf("*") : at;
}

function packageName(from: string): string {
  return from
    .split("/")
    .slice(0, from.startsWith("@") ? 2 : 1)
    .join("/");
}
