// Reads a run's task from the command line, a ticket file or standard input. All of it is doubtful input.

import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { JsonObject } from "../core/json.ts";
import { CliError, problemError, usageError } from "./errors.ts";
import type { Io } from "./terminal/io.ts";

export type Task = {
  readonly title: string;
  readonly body: string;
  /** From a ticket's front matter. */
  readonly id?: string;
  /** The front matter as facts: ticket.status, ticket.workflow … */
  readonly ticket?: JsonObject;
};

const TICKET_BYTES = 256 * 1024;
const TEXT_BYTES = 2 * 1024 * 1024;
const TITLE_LENGTH = 200;

export async function readTask(
  io: Pick<Io, "cwd">,
  given: { readonly text: string | undefined; readonly ticket: string | undefined },
): Promise<Task> {
  if (given.text !== undefined && given.ticket !== undefined) {
    throw usageError("task_twice", "Give the task as text or as --ticket, not both.");
  }
  if (given.ticket !== undefined) return readTicket(resolve(io.cwd, given.ticket), given.ticket);
  if (given.text === undefined)
    throw usageError(
      "task_missing",
      "The task is missing.",
      'passrail run FLOW "text"   or   --ticket FILE   or   - for standard input',
    );
  const text = given.text === "-" ? await readInput() : given.text;
  if (Buffer.byteLength(text) > TEXT_BYTES)
    throw new CliError("task_too_large", `The task has more than ${TEXT_BYTES / 1024} KiB.`);
  return requireTitle({ title: titleOf(text), body: text });
}

async function readTicket(file: string, shown: string): Promise<Task> {
  const text = readFile(file, shown);
  const { splitFrontMatter } = await import("../file/front-matter.ts");
  const split = splitFrontMatter(text);
  if (!split.ok) {
    if (split.error.code !== "frontmatter_missing")
      throw problemError({ ...split.error, message: `${shown}: ${split.error.message}` });
    const plain = text.replace(/^\uFEFF/u, "").replaceAll("\r\n", "\n");
    return requireTitle({ title: titleOf(plain), body: plain });
  }
  const { readYaml } = await import("../file/yaml.ts");
  const { yaml, linesBefore, body } = split.value;
  const read = readYaml(yaml, { file: shown, subject: "ticket", linesBefore });
  if (!read.ok) {
    const [first] = read.error;
    throw new CliError(
      first?.code ?? "yaml_syntax",
      `${shown}:${first?.line ?? 1}:${first?.column ?? 1}: ${first?.message ?? "cannot be read"}`,
      first?.hint ?? "",
    );
  }
  const ticket = read.value.value as JsonObject;
  const { id, title } = ticket;
  return requireTitle({
    title: typeof title === "string" && title.trim() !== "" ? title.trim().slice(0, TITLE_LENGTH) : titleOf(body),
    body,
    ...(typeof id === "string" && id !== "" ? { id } : {}),
    ticket,
  });
}

function readFile(file: string, shown: string): string {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") throw new CliError("ticket_not_found", `There is no file ${shown}.`);
    throw new CliError("ticket_unreadable", `${shown} cannot be read (${code ?? "unknown"}).`);
  }
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw new CliError("ticket_not_a_file", `${shown} is not a file.`);
    if (stat.size > TICKET_BYTES)
      throw new CliError(
        "ticket_too_large",
        `${shown} has ${Math.ceil(stat.size / 1024)} KiB; ${TICKET_BYTES / 1024} KiB are allowed.`,
      );
    const text = readFileSync(handle, "utf8");
    if (text.includes("\0")) throw new CliError("ticket_not_text", `${shown} is not a text file.`);
    return text;
  } finally {
    closeSync(handle);
  }
}

/** Standard input as text, without a byte order mark. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > TEXT_BYTES) throw new CliError("task_too_large", `The task has more than ${TEXT_BYTES / 1024} KiB.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\uFEFF/u, "");
}

/** The first heading, else the first line that says something. */
export function titleOf(text: string): string {
  const lines = text
    .slice(0, 20_000)
    .split("\n")
    .map((line) => line.trim());
  const heading = lines.find((line) => /^#{1,6}\s+\S/u.test(line));
  const line = heading?.replace(/^#+\s+/u, "") ?? lines.find((each) => each !== "") ?? "";
  return line.slice(0, TITLE_LENGTH);
}

function requireTitle(task: Task): Task {
  if (task.title === "" && task.body.trim() === "")
    throw usageError("task_empty", "The task is empty.", "Say in a sentence what is to be done.");
  return task;
}
