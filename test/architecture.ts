// Which part of the source may import which: the table is the law, `violations` applies it to the import lines.
// It reads text, not types: strict where it cannot tell (an import in a comment that begins a line counts too).

import { isBuiltin } from "node:module";
import { posix } from "node:path";

type Rule = {
  /** Folders or files under src/ that may be imported; "*" for all. The part itself is always allowed. */
  readonly may: readonly string[] | "*";
  /** May be imported too, but only by `import type`. */
  readonly types?: readonly string[];
  /** npm packages; "*" for all that package.json has. */
  readonly packages: readonly string[] | "*";
  /** Modules of Node. Pure parts have none: no clock, no files, no processes. */
  readonly node: boolean;
};

const adapter: Rule = { may: ["core"], packages: "*", node: true };
/** What the engine knows of the adapters: how they are called, not how they work. */
const ports = [
  "store/store.ts",
  "workspace/workspace.ts",
  "agents/runner.ts",
  "mcp/desk.ts",
  "forge/forge.ts",
  "notify/notify.ts",
];

/** A part is a folder of src/, a file directly in src/, or the web application. A part that is not here may not exist. */
const ALLOWED: Readonly<Record<string, Rule>> = {
  core: { may: [], packages: ["zod"], node: false },
  api: { may: ["core"], packages: ["zod"], node: false },
  catalog: adapter,
  store: adapter,
  workspace: adapter,
  agents: adapter,
  /** Used in browsers too. */
  client: { may: ["core", "api"], packages: ["zod"], node: false },
  mcp: { may: ["core", "api", "client"], packages: "*", node: true },
  /** It calls git as workspaces do. */
  forge: { may: ["core", "workspace"], packages: "*", node: true },
  notify: { may: ["core", "files"], packages: "*", node: true },
  files: { may: [], packages: [], node: true },
  /** The files of tickets; knows no run. */
  tickets: { may: ["core", "files", "catalog"], packages: "*", node: true },
  /** From a request, a list or issues elsewhere to ticket files. */
  intake: { may: ["core", "engine", "files", "catalog", "tickets", "store/store.ts"], packages: "*", node: true },
  /** Finished work on its way out: builtins and watchers over the forge's port. */
  landing: {
    may: ["core", "engine", "forge", "files", "workspace", "store/store.ts", "tickets"],
    packages: "*",
    node: true,
  },
  /** From ticket files to runs and back. */
  dispatch: {
    may: ["core", "engine", "files", "tickets", "launch", "catalog", "config.ts", "store/store.ts", "compose.ts"],
    packages: "*",
    node: true,
  },
  triggers: {
    may: ["core", "engine", "files", "intake", "launch", "catalog", "config.ts", "store/store.ts", "compose.ts"],
    packages: "*",
    node: true,
  },
  engine: { may: ["core", ...ports], types: ["catalog"], packages: "*", node: true },
  runtime: { may: ["core", "engine"], packages: "*", node: true },
  server: {
    may: ["core", "api", "engine", "files", "store/store.ts", "config.ts", "client", "mcp/operator", "tickets"],
    packages: "*",
    node: true,
  },
  demo: { may: ["core", "api", "engine", "catalog", "compose.ts", "config.ts"], packages: "*", node: true },
  launch: { may: ["core", "compose.ts", "config.ts"], packages: "*", node: true },
  daemon: { may: "*", packages: "*", node: true },
  cli: {
    may: [
      "core",
      "api",
      "engine",
      "catalog",
      "compose.ts",
      "config.ts",
      "demo",
      "launch",
      "daemon",
      "server/keys.ts",
      "server/audit.ts",
      "server/token-file.ts",
      "client",
      "mcp/operator",
      "webhooks/reach.ts",
      "tickets",
      "dispatch",
      "intake",
      "landing",
      "triggers",
    ],
    packages: "*",
    node: true,
  },
  web: { may: ["core", "api", "client"], packages: "*", node: false },
  webhooks: { may: "*", packages: "*", node: true },
  "config.ts": {
    may: [
      "core",
      "webhooks/settings.ts",
      "tickets/settings.ts",
      "forge/settings.ts",
      "triggers/settings.ts",
      "workspace/settings.ts",
      "workspace/workspace.ts",
    ],
    packages: "*",
    node: true,
  },
  "players.ts": { may: "*", packages: "*", node: true },
  "try-runner.ts": { may: "*", packages: "*", node: true },
  "inventory.ts": { may: "*", packages: "*", node: true },
  "parts.ts": { may: "*", packages: "*", node: true },
  "compose.ts": { may: "*", packages: "*", node: true },
  "index.ts": { may: "*", packages: "*", node: true },
};

/** Path from the root of the repository (src/core/run/run.ts) -> text of the file. */
type Files = ReadonlyMap<string, string>;

/** One sentence per import that the table does not allow. */
export function violations(files: Files): string[] {
  return [...files].flatMap(([path, text]) => {
    const part = partOf(path);
    const rule = ALLOWED[part];
    if (!rule) return [`${path}: "${part}" is not in the table of test/architecture.ts; say there what it may import`];
    return importsOf(text).flatMap((each) => {
      const reason = refuse(path, part, rule, each);
      return reason === null ? [] : [`${path}: ${part} may not import ${each.from}: ${reason}`];
    });
  });
}

type Import = { readonly from: string; readonly typeOnly: boolean };

function refuse(path: string, part: string, rule: Rule, { from, typeOnly }: Import): string | null {
  if (from === COMPUTED) return rule.may === "*" ? null : "a computed path cannot be checked";
  if (!from.startsWith(".")) {
    if (isBuiltin(from)) return rule.node ? null : "it is pure";
    return rule.packages === "*" || rule.packages.includes(packageName(from))
      ? null
      : "it knows only the packages of the table";
  }
  // The bundler's words behind a path (`?worker&url`) say how, not what.
  const target = posix.join(posix.dirname(path), from.replace(/\?.*$/u, ""));
  if (part === "web" && target.endsWith(".css")) return null;
  if (!isSource(target)) return "it is outside of the source";
  if (partOf(target) === part || rule.may === "*") return null;
  const matches = (entry: string) => target === `src/${entry}` || target.startsWith(`src/${entry}/`);
  if (rule.may.some(matches)) return null;
  if (!rule.types?.some(matches)) return "the direction is wrong";
  return typeOnly ? null : "only its types may be imported";
}

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

function partOf(path: string): string {
  const [root = "", first = ""] = path.split("/");
  return root === "src" ? first : root;
}

function packageName(from: string): string {
  return from
    .split("/")
    .slice(0, from.startsWith("@") ? 2 : 1)
    .join("/");
}
