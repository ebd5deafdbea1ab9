// Stages that the engine does itself. Each is a function from a run to a report, and can be repeated after a crash.

import { mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/agent.ts";
import type { WorkStage } from "../core/flow.ts";
import type { Report } from "../core/outcome.ts";
import type { Result } from "../core/result.ts";
import type { Run } from "../core/run.ts";
import { factOf } from "../core/sequence.ts";
import { readTicketList, ticketFileText } from "../core/tickets/new-ticket.ts";
import type { AttemptRecord } from "../store/store.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import { readAgentFile } from "./attempt-files.ts";

export type BuiltinContext = {
  readonly run: Run;
  readonly stage: WorkStage;
  readonly resolved: ResolvedFlow;
  readonly project: string;
  readonly workspace: Workspace;
  readonly workspaces: Workspaces;
  /** Aborted when the stage is no longer wanted. */
  readonly signal: AbortSignal;
  readonly now: () => string;
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
  if (written.length > 0) return created(written);
  const first = await claimNumbers(root, tickets.value.length);
  // Written aside and moved as a whole: there are all tickets of a request or none, also after a crash.
  const draft = join(root, `.draft-${run.id}`);
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft);
    for (const [index, ticket] of tickets.value.entries()) {
      const ids = tickets.value.map((_, at) => `AGI-${first + at}`);
      const text = ticketFileText(ticket, ids, index, stage.settings["first_status"] ?? "Backlog");
      await writeFile(join(draft, `AGI-${first + index}.md`), text, { flag: "wx", flush: true });
    }
    await writeFile(join(draft, ".run"), `${run.id}\n`, { flush: true });
    const folder = await publish(root, draft);
    return created(tickets.value.map((_, index) => join("feature_requests", folder, `AGI-${first + index}.md`)));
  } finally {
    await rm(draft, { recursive: true, force: true });
    await releaseNumbers(root, first, tickets.value.length);
  }
}

function created(paths: readonly string[]): Report {
  return { structured: true, summary: `Created ${paths.length} ticket(s):\n${paths.join("\n")}`, payload: { paths } };
}

/** A crash may have come after the files were written: the folder says which run wrote it. */
async function alreadyWritten(root: string, runId: string): Promise<string[]> {
  for (const name of await readdir(root)) {
    const owner = await readAgentFile(join(root, name, ".run"), 200);
    if (owner?.trim() !== runId) continue;
    const files = await readdir(join(root, name));
    return files
      .filter((file) => TICKET_FILE.test(file))
      .sort((a, b) => ticketNumber(a) - ticketNumber(b))
      .map((file) => join("feature_requests", name, file));
  }
  return [];
}

/** The next free FR folder gets the draft. A folder that another intake took meanwhile is not empty, so it cannot be replaced. */
async function publish(root: string, draft: string): Promise<string> {
  const taken = (await readdir(root)).map((name) => Number(/^FR-([1-9][0-9]{0,8})$/u.exec(name)?.[1] ?? 0));
  for (let number = Math.max(0, ...taken) + 1; ; number++) {
    try {
      await rename(draft, join(root, `FR-${number}`));
      return `FR-${number}`;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw cause;
    }
  }
}

const TICKET_FILE = /^AGI-([1-9][0-9]{0,8})\.md$/u;
const CLAIMS = ".numbers";

/**
 * Numbers that nobody else gets, one after the other. A claim is a folder, because making one is atomic; after claiming we look again,
 * because another intake may have written its files and let go of its claims in between. A crash only leaves a gap.
 */
async function claimNumbers(root: string, count: number): Promise<number> {
  await mkdir(join(root, CLAIMS), { recursive: true });
  for (;;) {
    const first = Math.max(await highestTicket(root), ...(await readdir(join(root, CLAIMS))).map(ticketNumber)) + 1;
    let claimed = 0;
    while (claimed < count && (await claim(root, first + claimed))) claimed++;
    if (claimed === count && (await highestTicket(root)) < first) return first;
    await releaseNumbers(root, first, claimed);
  }
}

async function claim(root: string, number: number): Promise<boolean> {
  try {
    await mkdir(join(root, CLAIMS, `AGI-${number}.md`));
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

async function releaseNumbers(root: string, first: number, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await rmdir(join(root, CLAIMS, `AGI-${first + index}.md`));
}

/** Over all folders of requests. */
async function highestTicket(root: string): Promise<number> {
  const folders = (await readdir(root)).filter((name) => name !== CLAIMS);
  const names = await Promise.all(folders.map((name) => readdir(join(root, name)).catch(() => [])));
  return Math.max(0, ...names.flat().map(ticketNumber));
}

function ticketNumber(name: string): number {
  return Number(TICKET_FILE.exec(name)?.[1] ?? 0);
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
