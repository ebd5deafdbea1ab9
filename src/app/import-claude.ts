// Brings the agents and commands of Claude Code over: `.claude/agents/*.md` become agents of this project, a command file becomes notes for
// a flow. First a plan that says what would be written and what differs; nothing replaces a file, and no name replaces a shipped agent.

import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type AgentFile, readAgent } from "../catalog/agent-file.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { makeFolders, readConfined, writeConfined } from "../file/confined.ts";
import { shippedDir } from "../settings/site.ts";

export type ImportStep = {
  /** Both relative to the project. */
  readonly from: string;
  readonly to: string;
  /** "write": a new file. "same": it is there already, word for word. "skip": it cannot be brought over, see the notes. */
  readonly act: "write" | "same" | "skip";
  /** What differs from the original, or what to look at. */
  readonly notes: readonly string[];
  readonly text: string;
};

export type ImportPlan = { readonly project: string; readonly steps: readonly ImportStep[] };

const FILE_BYTES = 256 * 1024;
const MOST_FILES = 200;
const AGENTS = ".claude/agents";
const COMMANDS = ".claude/commands";

/** Tools of Claude Code that Passrail's runners know by this name. */
const KNOWN_TOOLS: ReadonlySet<string> = new Set(
  "Read Write Edit MultiEdit NotebookEdit Grep Glob LS Bash BashOutput KillShell WebFetch WebSearch TodoWrite Task Agent Skill".split(
    " ",
  ),
);
const KNOWN_MODELS: ReadonlySet<string> = new Set(["inherit", "opus", "sonnet", "haiku"]);
const WRITING: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "Bash"]);

/** `command`: a file of `.claude/commands`, by its name; all of them if there is none. */
export function planImport(project: string, command?: string): Result<ImportPlan> {
  const agents = filesIn(project, AGENTS);
  const commands = filesIn(project, COMMANDS).filter(
    (file) => command === undefined || basename(file, ".md") === command,
  );
  if (agents.length === 0 && commands.length === 0) return err(nothing(project, command));
  const taken = new Set<string>();
  return ok({
    project,
    steps: [
      ...agents.map((file) => agentStep(project, file, taken)),
      ...commands.map((file) => commandStep(project, file)),
    ],
  });
}

/** Writes what the plan says. A file that appeared since the plan was made stays as it is. */
export function performImport({ project, steps }: ImportPlan): Result<readonly string[]> {
  const written: string[] = [];
  for (const { act, to, text } of steps) {
    if (act !== "write") continue;
    const path = join(project, to);
    if (existsSync(path))
      return err({ code: "import_conflict", message: `${to} exists by now; nothing more was written.` });
    const folder = makeFolders(project, dirname(path));
    if (!folder.ok) return folder;
    const done = writeConfined(project, path, text, 0o644);
    if (!done.ok) return done;
    written.push(to);
  }
  return ok(written);
}

function agentStep(project: string, file: string, taken: Set<string>): ImportStep {
  const from = join(AGENTS, file);
  const skip = (note: string): ImportStep => ({ from, to: "", act: "skip", notes: [note], text: "" });
  const read = readConfined(project, join(project, from), FILE_BYTES);
  if (!read.ok) return skip(read.error.message);
  const agent = readAgent(read.value ?? "", from, from, "claude");
  if (!agent.ok) return skip(agent.error.map(({ message }) => message).join("; "));
  const { value } = agent;
  const isShipped = existsSync(join(shippedDir, "agents", `${value.name}.md`));
  const name = freeName(isShipped ? `own-${value.name}` : value.name, taken);
  const to = join(".passrail/agents", `${name}.md`);
  const text = agentText(value, name);
  const notes = [
    ...(isShipped
      ? [`Passrail ships an agent "${value.name}"; this one is called ${name}, so that it replaces nothing`]
      : []),
    ...toolNotes(value),
    ...modelNotes(value),
    "a router may choose it (router: true); remove the line if only flows should name it",
  ];
  return unlessThere(project, { from, to, act: "write", notes, text });
}

/** A file that is there stays as it is. */
function unlessThere(project: string, step: ImportStep): ImportStep {
  const { to, text } = step;
  const known = readConfined(project, join(project, to), FILE_BYTES);
  if (!known.ok || known.value === undefined) return step;
  if (known.value === text) return { ...step, act: "same", notes: [] };
  return { ...step, act: "skip", notes: [`${to} exists and differs; it stays as it is`] };
}

/** Two files may give the same name; the second gets a number. */
function freeName(name: string, taken: Set<string>): string {
  let free = name.slice(0, 48);
  for (let n = 2; taken.has(free); n++) free = `${name.slice(0, 45)}-${n}`;
  taken.add(free);
  return free;
}

/** Front matter that is YAML whatever the original was: texts are quoted, so a colon in a description is no syntax. */
function agentText({ description, skills, model, options, prompt }: AgentFile, name: string): string {
  const lines = [
    `name: ${name}`,
    `description: ${JSON.stringify(description)}`,
    ...(model === undefined ? [] : [`model: ${JSON.stringify(model)}`]),
    ...(skills.length === 0 ? [] : [`skills: ${JSON.stringify(skills)}`]),
    ...Object.entries(options ?? {}).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    "router: true",
  ];
  return `---\n${lines.join("\n")}\n---\n\n${prompt}\n`;
}

function toolNotes({ options }: AgentFile): readonly string[] {
  const tools = options?.tools;
  if (tools === undefined) return [];
  const unknown = tools.filter((tool) => !KNOWN_TOOLS.has(tool.split("(")[0] ?? "") && !tool.startsWith("mcp__"));
  const servers = tools.filter((tool) => tool.startsWith("mcp__"));
  const cannotWrite = !tools.some((tool) => WRITING.has(tool.split("(")[0] ?? ""));
  return [
    ...(unknown.length === 0
      ? []
      : [`tools that Passrail does not know, passed on as they are: ${unknown.join(", ")}`]),
    ...(servers.length === 0
      ? []
      : [`its MCP tools need their server under "mcp" in passrail.yaml: ${servers.join(", ")}`]),
    ...(cannotWrite
      ? ["it may not write files: it reports through the verdict tool, and Passrail writes the file that a flow names"]
      : []),
  ];
}

function modelNotes({ model }: AgentFile): readonly string[] {
  if (model === undefined || KNOWN_MODELS.has(model) || model.startsWith("claude-")) return [];
  return [`the model "${model}" is none of Claude's; name it under runners.<runner>.models in passrail.yaml`];
}

/** A command is a prompt for one session; a flow has stages. So it is kept beside the flows, for the person who writes one. */
function commandStep(project: string, file: string): ImportStep {
  const name = basename(file, ".md");
  const from = join(COMMANDS, file);
  const to = join(".passrail/notes", `command-${name}.md`);
  const read = readConfined(project, join(project, from), FILE_BYTES);
  const text = read.ok ? (read.value ?? "") : "";
  if (!read.ok || text.trim() === "")
    return { from, to, act: "skip", notes: [read.ok ? "it is empty" : read.error.message], text: "" };
  const notes = [
    `kept as notes: a command is one prompt, a flow names its stages; for a fixed order write .passrail/flows/${name}.yaml (docs/flows.md)`,
    ...(/\$ARGUMENTS|\$[1-9]/u.test(text) ? ['its $ARGUMENTS are the task of a run: passrail run FLOW "task"'] : []),
    ...(/TeamCreate|teammate/iu.test(text)
      ? ["it leads a team by itself; a stage with teams: true does the same"]
      : []),
  ];
  return unlessThere(project, { from, to, act: "write", notes, text });
}

function filesIn(project: string, folder: string): readonly string[] {
  try {
    const entries = readdirSync(join(project, folder), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
      .map(({ name }) => name)
      .toSorted()
      .slice(0, MOST_FILES);
  } catch {
    return [];
  }
}

function nothing(project: string, command: string | undefined): Problem {
  return {
    code: "nothing_to_import",
    message:
      command === undefined
        ? `There are no Markdown files in ${join(project, AGENTS)} or ${join(project, COMMANDS)}.`
        : `There is no ${join(project, COMMANDS, `${command}.md`)}, and no agent.`,
    hint: "passrail import claude   looks in the project's folder: --cwd DIR",
  };
}
