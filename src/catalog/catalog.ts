// Flows, agents and prompts as files. A project file overrides the shipped one with the same relative path.
// The catalog reads a file on first use and keeps it: one catalog is one consistent snapshot. Open a new one to see edits.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { RunnerName } from "../core/flow/agent-options.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import { BUILTINS, type CheckContext } from "../core/check/context.ts";
import type { FileProblem } from "../core/check/problem.ts";
import { didYouMean } from "../core/check/suggest.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { type AgentFile, type CatalogOrigin, readAgent } from "./agent-file.ts";
import { type CheckedFlow, checkFlowText } from "./flow-text.ts";
import { listFiles, readText } from "../file/read-text.ts";
import { resolveWith } from "./resolve.ts";
import { optional } from "../core/optional.ts";

export type { CheckedFlow } from "./flow-text.ts";

export type CatalogFolders = {
  /** The folder that holds flows/, agents/ and prompts/ of the package. */
  readonly shippedDir: string;
  /** The repository, whose .passrail/ and .claude/agents/ override the shipped files. */
  readonly projectDir?: string;
  /** The folder with the approved copies of the repository's files, which are read instead of them; messages name the repository's. */
  readonly approvedDir?: string;
  readonly builtins?: ReadonlySet<string>;
  /** The runner that the settings choose for a stage, given the catalog's agents. */
  readonly runnerOf?: (stage: WorkStage, agents: ReadonlyMap<string, AgentFile>) => RunnerName | undefined;
  /** The checks that the project's settings define; if absent, the check skips the question. */
  readonly checks?: ReadonlySet<string>;
};

export type FlowEntry = { readonly name: string; readonly file: string; readonly origin: CatalogOrigin };

export type Catalog = {
  readonly listFlows: () => readonly FlowEntry[];
  /** The text of a flow file as it is on disk. */
  readonly flowText: (name: string) => Result<string, FileProblem> | undefined;
  /** The flow if it has no errors; its warnings are in `problems`. */
  readonly requireFlow: (name: string) => Result<CheckedFlow, readonly FileProblem[]>;
  /** Checks a flow file at any path with the agents and prompts of this catalog. */
  readonly checkFile: (path: string) => Result<CheckedFlow, readonly FileProblem[]>;
  readonly resolve: (name: string) => Result<ResolvedFlow, readonly FileProblem[]>;
  readonly agents: () => {
    readonly agents: ReadonlyMap<string, AgentFile>;
    readonly problems: readonly FileProblem[];
  };
  readonly listPrompts: () => readonly string[];
  /** Whether there is any file but the shipped ones, whose tests are ours. It reads none. */
  readonly holdsOwn: () => boolean;
  /** prompts/<name>.md; fragments are "fragments/<name>". */
  readonly loadPrompt: (name: string) => Result<string>;
};

type Source = {
  readonly path: string;
  readonly folder: string;
  /** The folder that people know the file in. */
  readonly root: string;
  /** The folder that it is read from. */
  readonly readFrom: string;
  readonly origin: CatalogOrigin;
};

const FLOW_ENDINGS = [".yaml", ".yml"];
const PROMPT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*(\/[A-Za-z0-9][A-Za-z0-9_-]*){0,3}$/;

export function loadCatalog(folders: CatalogFolders): Catalog {
  const flowSources = once(() => byName(sourcesOf(folders, "flows", FLOW_ENDINGS, false)));
  const promptSources = once(() => byName(sourcesOf(folders, "prompts", [".md"], true)));
  const agentSources = once(() => sourcesOf(folders, "agents", [".md"], false));
  const agents = once(() => readAgents(agentSources(), folders.shippedDir));
  const prompts = new Map<string, Result<string>>();
  const flows = new Map<string, Result<CheckedFlow, readonly FileProblem[]>>();

  const loadPrompt = (name: string): Result<string> => {
    const known = prompts.get(name) ?? readPrompt(name, promptSources(), folders);
    prompts.set(name, known);
    return known;
  };
  const context = (): CheckContext => ({
    agents: new Set(agents().agents.keys()),
    prompts: new Set(promptSources().keys()),
    builtins: folders.builtins ?? BUILTINS,
    ...(folders.runnerOf === undefined
      ? {}
      : { runnerOf: (stage: WorkStage) => folders.runnerOf?.(stage, agents().agents) }),
    ...optional({ checks: folders.checks }),
    textOf: (kind, name) => {
      if (kind === "agent") return agents().agents.get(name)?.prompt;
      const prompt = loadPrompt(name);
      return prompt.ok ? prompt.value : undefined;
    },
  });
  const requireFlow: Catalog["requireFlow"] = (name) => {
    const known = flows.get(name) ?? readFlow(name, flowSources(), context, () => agents().problems);
    flows.set(name, known);
    return known;
  };
  return {
    listFlows: () =>
      [...flowSources()].map(([name, source]) => ({ name, file: fileOf(source), origin: source.origin })),
    flowText: (name) => {
      const source = flowSources().get(name);
      return source === undefined ? undefined : read(source, "flow");
    },
    requireFlow,
    checkFile: (path) => {
      const text = readText(path, dirname(path), "flow");
      return text.ok ? checkFlowText(text.value, path, context()) : err([text.error]);
    },
    resolve: (name) => {
      const checked = requireFlow(name);
      return checked.ok
        ? resolveWith(checked.value.flow, agents().agents, [...promptSources().keys()], loadPrompt)
        : checked;
    },
    agents,
    listPrompts: () => [...promptSources().keys()],
    holdsOwn: () =>
      [...flowSources().values(), ...promptSources().values(), ...agentSources()].some(
        ({ origin }) => origin !== "shipped",
      ),
    loadPrompt,
  };
}

/** The folders of a project whose approved files are in `approvedDir`; without any, only the shipped files count. */
export function catalogFolders(
  projectDir: string,
  approvedDir: string | null,
): Pick<CatalogFolders, "projectDir" | "approvedDir"> {
  return approvedDir === null ? {} : { projectDir, approvedDir };
}

/** The files of one kind, highest precedence first. The first file with a path hides later ones with the same path. */
function sourcesOf(
  folders: CatalogFolders,
  kind: string,
  endings: readonly string[],
  deep: boolean,
): readonly Source[] {
  const project = folders.projectDir;
  const own = project === undefined ? undefined : { root: project, readFrom: folders.approvedDir ?? project };
  const places: Omit<Source, "path">[] = [
    ...(own === undefined ? [] : [{ ...own, folder: join(".passrail", kind), origin: "project" as const }]),
    ...(own === undefined || kind !== "agents"
      ? []
      : [{ ...own, folder: join(".claude", kind), origin: "claude" as const }]),
    { folder: kind, root: folders.shippedDir, readFrom: folders.shippedDir, origin: "shipped" },
  ];
  const seen = new Set<string>();
  return places.flatMap((place) =>
    listFiles(join(place.readFrom, place.folder), endings, deep).flatMap((path) => {
      if (seen.has(path)) return [];
      seen.add(path);
      return [{ ...place, path }];
    }),
  );
}

function byName(sources: readonly Source[]): ReadonlyMap<string, Source> {
  const named = new Map<string, Source>();
  for (const source of sources) {
    const name = source.path.replace(/\.(yaml|yml|md)$/, "");
    if (!named.has(name)) named.set(name, source);
  }
  return new Map([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fileOf({ root, folder, path }: Source): string {
  return join(root, folder, path);
}

/** A link must stay inside its folder, and the folder itself must stay inside the project. */
function read(source: Source, subject: string): Result<string, FileProblem> {
  const { folder, path, readFrom } = source;
  const file = join(readFrom, folder, path);
  const inProject = readText(file, readFrom, subject);
  const text = inProject.ok ? readText(file, join(readFrom, folder), subject) : inProject;
  return text.ok ? text : err({ ...text.error, file: fileOf(source) });
}

function readAgents(sources: readonly Source[], shippedDir: string): ReturnType<Catalog["agents"]> {
  const agents = new Map<string, AgentFile>();
  const problems: FileProblem[] = [];
  for (const source of sources) {
    const text = read(source, "agent");
    const file = join(source.folder, source.path);
    const agent = text.ok ? readAgent(text.value, file, fileOf(source), source.origin) : err([text.error]);
    if (!agent.ok) {
      problems.push(...agent.error);
      continue;
    }
    const { name } = agent.value;
    const other = agents.get(name);
    if (other === undefined) agents.set(name, agent.value);
    else if (other.origin === source.origin) {
      const message = `the agent "${name}" is also in ${other.file}; that one counts`;
      problems.push({ code: "duplicate_agent", message, severity: "error", file: fileOf(source), line: 1, column: 1 });
    }
  }
  return { agents, problems: [...problems, ...replacedAgents(agents, sources, shippedDir)] };
}

/** A file that people wrote for another tool takes the place of a shipped agent by its name alone; they should know. */
function replacedAgents(
  agents: ReadonlyMap<string, AgentFile>,
  sources: readonly Source[],
  shippedDir: string,
): readonly FileProblem[] {
  return [...agents.values()].flatMap(({ name, origin, file }) => {
    if (origin !== "claude" || !existsSync(join(shippedDir, "agents", `${name}.md`))) return [];
    const source = sources.find((each) => join(each.folder, each.path) === file);
    const message = `takes the place of the shipped agent "${name}"`;
    const hint = "passrail import claude   brings it over under a name of its own";
    const shown = source === undefined ? file : fileOf(source);
    return [{ code: "agent_replaced", message, hint, severity: "warning", file: shown, line: 1, column: 1 }];
  });
}

function readPrompt(name: string, sources: ReadonlyMap<string, Source>, folders: CatalogFolders): Result<string> {
  if (!PROMPT_NAME.test(name)) {
    return err({
      code: "invalid_prompt_name",
      message: `"${name.slice(0, 80)}" cannot be the name of a prompt`,
      hint: "letters, digits, dashes; fragments/<name> for a fragment",
    });
  }
  const source = sources.get(name);
  if (source === undefined) {
    const path = join(folders.shippedDir, "prompts", `${name}.md`);
    return err({
      code: "prompt_not_found",
      message: `there is no prompt ${path}`,
      hint: didYouMean(name, sources.keys(), "prompts"),
    });
  }
  const text = read(source, "prompt");
  return text.ok ? ok(text.value.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")) : err(inWords(text.error));
}

function inWords({ code, message, hint, file }: FileProblem): Problem {
  return { code, message: `${file}: ${message}`, ...optional({ hint }) };
}

function readFlow(
  name: string,
  sources: ReadonlyMap<string, Source>,
  context: () => CheckContext,
  agentProblems: () => readonly FileProblem[],
): Result<CheckedFlow, readonly FileProblem[]> {
  const source = sources.get(name);
  if (source === undefined) {
    const hint = didYouMean(name, sources.keys(), "flows");
    const message = `there is no flow "${name.slice(0, 80)}"`;
    return err([
      {
        code: "unknown_flow",
        message,
        hint,
        severity: "error",
        file: join("flows", `${name.slice(0, 80)}.yaml`),
        line: 1,
        column: 1,
      },
    ]);
  }
  const text = read(source, "flow");
  if (!text.ok) return err([text.error]);
  const checked = checkFlowText(text.value, fileOf(source), context(), name);
  if (!checked.ok) {
    // A broken agent file is the likely reason for an unknown agent.
    const causes = checked.error.some(({ code }) => code === "unknown_agent") ? agentProblems() : [];
    return err([...checked.error, ...causes]);
  }
  return checked;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
