// Which keys of flow files are read by code that acts on them. The compiler answers: it finds every reference to a key of the schema, or
// to the field of the resolved flow into which the key goes. Reads by the schema, the resolver and the checks do not count.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import { API, type Project } from "typescript/unstable/sync";

/** Text put into a source file before the compiler reads it; the file on disk stays as it is. */
export type Planted = { readonly file: string; readonly before: string; readonly text: string };

const ROOT = join(import.meta.dirname, "..");
const CONFIG = join(ROOT, "tsconfig.declared-keys.json");
const SCHEMAS = ["src/core/flow/flow-file.ts", "src/core/flow/agent-options.ts", "src/core/flow/check-file.ts"];
const RESOLVED = ["src/core/flow/flow.ts", "src/core/flow/check-result.ts"];
/** Files that write, check or describe keys; acting on them happens elsewhere. */
const DECLARING =
  /^src\/core\/(flow\/(flow|flow-file|agent-options|stored-options|check-file|check-definitions)\.ts|check\/)/u;
const TESTS = /\.(test|testsuite)\.ts$/u;

/** Part of the schema -> types of the resolved flow that hold its keys, where they are not stored as written. */
const HELD_BY: Readonly<Record<string, readonly string[]>> = {
  statusRule: ["StatusRule"],
  routeObject: ["Route", "Route.ask"],
  words: ["Words"],
  counter: ["Counter"],
  escalation: ["Flow.escalation"],
  limits: ["StageLimits", "StageResources"],
  notify: ["GateStage.notify"],
  turns: ["WorkStage.turns"],
  sharedKeys: ["WorkStage"],
  stageKeys: ["StageBase", "WorkStage", "GateStage"],
  "stageKeys.status": ["WorkStage.status"],
  followUp: ["StageBase"],
  trackStage: ["StageBase", "WorkStage"],
  stage: ["StageBase", "WorkStage", "GateStage", "ParallelStage", "DynamicStage", "WorkStage.settings"],
  "stage.tracks": ["TrackPlan"],
  entry: ["EntryRule"],
  input: ["FlowInput"],
  stated: ["StatedFact"],
  "flowFileSchema.bundles": ["Flow.bundles"],
  flowFileSchema: ["Flow"],
  check: ["CheckDefinition"],
  "flowFileSchema.handoffs": ["Flow.handoffs"],
  "flowFileSchema.log": ["Flow.log"],
  "flowFileSchema.defaults": ["WorkStage"],
};

/** Keys whose field has another name than the key in camel case. */
const FIELD: Readonly<Record<string, string>> = {
  "routeObject.ask": "Route.ask.who",
  // oxlint-disable-next-line unicorn/no-thenable -- the name of a key, not of a method
  "routeObject.then": "Route.goto",
  "routeObject.only": "Route.onlyBlamed",
  "counter.max_attempts": "Counter.maxLoops",
  "limits.startup": "StageLimits.startupMs",
  "limits.idle": "StageLimits.idleMs",
  "limits.idle.alone": "StageLimits.idleMs",
  "limits.idle.team": "StageLimits.idleTeamMs",
  "limits.total": "StageLimits.totalMs",
  "limits.question": "StageLimits.questionMs",
  "limits.permission": "StageLimits.permissionMs",
  "limits.output": "StageLimits.outputBytes",
  "limits.memory": "StageResources.memoryBytes",
  "limits.disk": "StageResources.diskBytes",
  "check.timeout": "CheckDefinition.timeoutMs",
  "sharedKeys.timeout": "StageLimits.totalMs",
  "sharedKeys.yield": "WorkStage.yields",
  "stageKeys.phase": "WorkStage.status.running",
  "stage.do": "WorkStage.agent",
  "trackStage.do": "WorkStage.agent",
  "stage.reach": "StageBase.enterOnly",
  "stage.then_in_same_workspace": "WorkStage.sameWorkspaceAs",
  "flowFileSchema.flow": "Flow.name",
  "flowFileSchema.choose": "Flow.chooseWhen",
  "flowFileSchema.choose.when": "Flow.chooseWhen",
  "flowFileSchema.choose.family": "Flow.family",
  "stated.yes_no": "StatedFact.oneOf",
  "flowFileSchema.handoffs.stale_after": "Flow.handoffs.staleAfterMs",
  "flowFileSchema.handoffs.lease": "Flow.handoffs.leaseMs",
  "flowFileSchema.defaults": "Flow.stages",
  "flowFileSchema.defaults.branch": "Flow.workspace",
};

export type KeyReport = {
  /** Every key that the schema's source declares, by the name of its part: "result.path". */
  readonly declared: readonly string[];
  readonly unread: readonly string[];
};

export function reportKeys(planted: readonly Planted[] = []): KeyReport {
  const api = new API({ cwd: ROOT, fs: { readFile: (path) => textOf(path, planted), fileExists: isConfig } });
  try {
    const [project] = api.updateSnapshot({ openProjects: [CONFIG] }).getProjects();
    if (project === undefined) throw new Error("the compiler opened no project");
    const keys = SCHEMAS.flatMap((file) => declarationsOf(sourceOf(project, file), isSchemaKey));
    const fields = new Map(RESOLVED.flatMap((file) => declarationsOf(sourceOf(project, file), isField)));
    const unread = keys.filter(([key, node]) => !isRead(project, fieldOf(key, fields)) && !isRead(project, node));
    return { declared: keys.map(([key]) => key), unread: unread.map(([key]) => key) };
  } finally {
    api.close();
  }
}

type Declaration = readonly [name: string, node: Node];

/** The file that the compiler sees; undefined leaves it to the disk. */
function textOf(path: string, planted: readonly Planted[]): string | undefined {
  if (path === CONFIG) return JSON.stringify({ extends: "./tsconfig.json", include: ["src"] });
  const own = planted.filter(({ file }) => join(ROOT, file) === path);
  if (own.length === 0) return undefined;
  return own.reduce(
    (text, { before, text: more }) => {
      if (text.split(before).length !== 2) throw new Error(`${path} has to hold "${before}" once`);
      return text.replace(before, () => `${more}${before}`);
    },
    readFileSync(path, "utf8"),
  );
}

function isConfig(path: string): boolean | undefined {
  return path === CONFIG ? true : existsSync(path);
}

function sourceOf(project: Project, file: string): SourceFile {
  const source = project.program.getSourceFile(join(ROOT, file));
  if (source === undefined) throw new Error(`${file} is not part of the program`);
  return source;
}

function declarationsOf(source: SourceFile, isDeclaration: (node: Node) => boolean): readonly Declaration[] {
  const found: Declaration[] = [];
  const visit = (node: Node, path: readonly string[]): void => {
    const isOwn = isDeclaration(node);
    const isRoot = node.kind === SyntaxKind.TypeAliasDeclaration || node.kind === SyntaxKind.VariableDeclaration;
    const here = isOwn ? [...path, nameOf(node)] : isRoot ? [nameOf(node)] : path;
    if (isOwn) found.push([here.join("."), node]);
    node.forEachChild((child) => visit(child, here));
  };
  visit(source, []);
  return found;
}

function isField(node: Node): boolean {
  return node.kind === SyntaxKind.PropertySignature;
}

/** A key of `z.strictObject({…})`, or of an object of keys that is spread into one. */
function isSchemaKey(node: Node): boolean {
  if (node.kind !== SyntaxKind.PropertyAssignment) return false;
  const around = node.parent.parent as Node & { readonly expression?: Node; readonly name?: Node };
  if (around.kind === SyntaxKind.CallExpression) return around.expression?.getText().endsWith(".strictObject") === true;
  return around.kind === SyntaxKind.VariableDeclaration && nameOf(around).endsWith("Keys");
}

function nameOf(node: Node): string {
  return (node as Node & { readonly name: Node }).name.getText();
}

function fieldOf(key: string, fields: ReadonlyMap<string, Node>): Node | undefined {
  const named = FIELD[key];
  if (named !== undefined) return fields.get(named);
  const at = key.lastIndexOf(".");
  const field = key.slice(at + 1).replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  const types = HELD_BY[key.slice(0, at)] ?? [];
  return types.flatMap((type) => fields.get(`${type}.${field}`) ?? fields.get(`${type}.${key.slice(at + 1)}`) ?? [])[0];
}

function isRead(project: Project, node: Node | undefined): boolean {
  if (node === undefined) return false;
  const { name } = node as Node & { readonly name: Node };
  return project.checker
    .getReferencedSymbolsForNode(name, name.end - 1)
    .flatMap(({ references }) => references.map(({ path }) => path))
    .some((path) => isActing(path));
}

function isActing(path: string): boolean {
  const file = path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1) : "";
  return file.startsWith("src/") && !DECLARING.test(file) && !TESTS.test(file);
}
