// Stages that the engine does itself. Each is a function from a run to a report, and can be repeated after a crash.

import { mkdir, open, readdir, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ResolvedFlow } from "../core/agent.ts";
import type { WorkStage } from "../core/flow.ts";
import type { Report } from "../core/outcome.ts";
import type { Result } from "../core/result.ts";
import type { Run } from "../core/run.ts";
import { factOf } from "../core/sequence.ts";
import { readTicketList, ticketFileText } from "../core/ticket-list.ts";
import type { AttemptRecord } from "../store/store.ts";
import { readAgentFile } from "./attempt-files.ts";

export type BuiltinContext = {
  readonly run: Run;
  readonly stage: WorkStage;
  readonly resolved: ResolvedFlow;
  readonly project: string;
  readonly workspaceDir: string;
  /** The run's own folder, outside the workspace. */
  readonly runDir: string;
  readonly attempts: readonly AttemptRecord[];
  /** Safe YAML: no tags, no aliases, bounded. */
  readonly readYaml: (text: string) => Result<unknown>;
};

export type Builtin = (context: BuiltinContext) => Promise<Report>;

export const builtins: Readonly<Record<string, Builtin>> = { bundles, "write-tickets": writeTickets };

const SOURCE_BYTES = 1024 * 1024;
const DIGEST_LINES = 15;

/** 002: one bundle for those who build and one for those who test; the spec is pointed at and digested, never copied. */
async function bundles({ run, project, runDir }: BuiltinContext): Promise<Report> {
  const folder = join(runDir, "bundles");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sources: string[] = [];
  for (const name of ["spec", "plan", "task"]) {
    const path = factOf(run, ["plan", name]);
    if (typeof path !== "string") continue;
    const text = await readAgentFile(join(project, path), SOURCE_BYTES);
    if (text === undefined) return { cause: "input_missing", reason: `the ${name} file ${path} cannot be read` };
    sources.push(`## ${name}: ${path}`, ...digest(text));
  }
  if (sources.length === 0)
    sources.push(`## ticket ${run.subject.id}: ${run.subject.title}`, ...digest(run.subject.body));
  const head = (who: string) => [
    `# Bundle for ${who}`,
    "",
    "Pointers and a digest; read the files themselves for the whole text.",
    "",
  ];
  await replaceFile(join(folder, "dev-bundle.md"), [...head("those who build"), ...sources, ""].join("\n"));
  await replaceFile(join(folder, "tester-bundle.md"), [...head("those who test"), ...sources, ""].join("\n"));
  return { structured: true, summary: "dev-bundle.md and tester-bundle.md are written", path: "bundles" };
}

function digest(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  const headings = lines.filter((line) => line.startsWith("#"));
  const chosen = headings.length > 0 ? headings : lines.filter((line) => line !== "");
  return chosen.slice(0, DIGEST_LINES).map((line) => `- ${line.replace(/^#+\s*/u, "").slice(0, 200)}`);
}

/** 004: the agent's list becomes ticket files, all or none; numbers go on from the highest there is. */
async function writeTickets({ run, stage, project, attempts, readYaml }: BuiltinContext): Promise<Report> {
  const text = attempts
    .filter((attempt) => attempt.status === "done")
    .map((attempt) => attempt.outcome?.["payload"])
    .flatMap((payload) =>
      payload !== null && typeof payload === "object" && "text" in payload ? [payload["text"]] : [],
    )
    .at(-1);
  if (typeof text !== "string") return { cause: "tickets_missing", reason: "no earlier stage gave a list of tickets" };
  const yaml = readYaml(text);
  const tickets = yaml.ok ? readTicketList(yaml.value) : yaml;
  if (!tickets.ok) return { cause: tickets.error.code, reason: tickets.error.message };
  const root = join(project, "feature_requests");
  await mkdir(root, { recursive: true });
  const written = await alreadyWritten(root, run.id);
  if (written.length > 0)
    return { structured: true, summary: `Created ${written.length} ticket(s)`, payload: { paths: written } };
  const folder = await claimFolder(root);
  const first = (await highest(root, /^AGI-([1-9][0-9]{0,8})\.md$/u, true)) + 1;
  const status = stage.settings["first_status"] ?? "Backlog";
  const paths: string[] = [];
  for (const [index, ticket] of tickets.value.entries()) {
    const path = join(folder, `AGI-${first + index}.md`);
    const file = await open(path, "wx");
    await file.writeFile(ticketFileText(ticket, first, index, status));
    await file.sync();
    await file.close();
    paths.push(join("feature_requests", basename(folder), basename(path)));
  }
  await writeFile(join(folder, ".run"), `${run.id}\n`);
  return { structured: true, summary: `Created ${paths.length} ticket(s):\n${paths.join("\n")}`, payload: { paths } };
}

/** A crash may have come after the files were written: the folder says which run wrote it. */
async function alreadyWritten(root: string, runId: string): Promise<string[]> {
  for (const name of await readdir(root)) {
    const owner = await readAgentFile(join(root, name, ".run"), 200);
    if (owner?.trim() !== runId) continue;
    const files = await readdir(join(root, name));
    return files
      .filter((file) => file.endsWith(".md"))
      .sort()
      .map((file) => join("feature_requests", name, file));
  }
  return [];
}

/** Making a folder is atomic: two intakes at once never get the same number. */
async function claimFolder(root: string): Promise<string> {
  for (let number = (await highest(root, /^FR-([1-9][0-9]{0,8})$/u, false)) + 1; ; number++) {
    try {
      const folder = join(root, `FR-${number}`);
      await mkdir(folder);
      return folder;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    }
  }
}

async function highest(root: string, pattern: RegExp, inside: boolean): Promise<number> {
  const folders = await readdir(root);
  const names = inside
    ? (await Promise.all(folders.map((name) => readdir(join(root, name)).catch(() => [])))).flat()
    : folders;
  return Math.max(0, ...names.map((name) => Number(pattern.exec(name)?.[1] ?? 0)));
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
