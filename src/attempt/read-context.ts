// What the readers of an attempt's verdict know about it: its flow and stage, its nonce, its files, and what existed before it began.

import { isAbsolute, join } from "node:path";
import type { Flow, WorkStage } from "../core/flow/flow.ts";
import type { Findings } from "../core/finding/finding.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { WantedNotes } from "../core/verdict/notes.ts";
import type { Unreadable } from "../core/verdict/reading.ts";
import { readAgentFile, type AttemptFiles } from "./attempt-files.ts";

export type ReadContext = {
  readonly flow: Flow;
  readonly stage: WorkStage;
  readonly subjectId: string;
  /** The number of the attempt, which its handoff repeats. */
  readonly iteration: number;
  readonly nonce: string;
  /** Whether a verdict without the nonce counts. */
  readonly nonceRule: "required" | "optional";
  /** Whether a block of text is in a prompt of this attempt: a quoted block is no verdict. */
  readonly isQuoted: (block: string) => boolean;
  /** Whether a result file with this text was there before the attempt, or an earlier attempt wrote it. */
  readonly isKnownFile: (text: string) => boolean;
  /** Where the agent works. */
  readonly workspaceDir: string;
  /** The whole workspace, where the agent works in a folder of it: no path below it leads through a link. */
  readonly workspaceRoot?: string;
  readonly files: AttemptFiles;
  /** Where the flow wants the handoff file; it did not exist before the attempt. Absent: in the channel. */
  readonly handoffInWorkspace?: string;
  readonly knownAgents: readonly string[];
  /** Whether the agent can write the file that the flow names; for one that only looks, Passrail writes it from the submission. */
  readonly writesFiles: boolean;
  readonly readYaml: (text: string) => Result<unknown>;
  /** The findings of the run before this attempt, and the ids that it may speak of. */
  readonly findings?: Findings;
  readonly findingIds: readonly string[];
  /** The rows of the task's Definition of Done, where the stage identifies its findings by them. */
  readonly taskRows: readonly string[];
  /** The rows of the task that the stage's coverage has, and the met rows of another stage that it accounts for. */
  readonly covered?: readonly string[];
  readonly toVerify?: readonly string[];
  /** What a pass must have noted in a document of the workspace. */
  readonly notes?: WantedNotes;
  /** Removes secrets from files that agents wrote, as from their output. */
  readonly redact: (text: string) => string;
};

/** Where the review that was there before an attempt is kept, in the attempt's folder. */
export const REPLACED_REVIEW = "replaced-verdict.md";

const FILE_BYTES = 1024 * 1024;

/** The prompts of an attempt. White space does not matter: a program may wrap what it quotes. */
export type Prompts = { add(text: string): void; holds(block: string): boolean };

export function createPrompts(): Prompts {
  let all = "";
  return {
    add: (text) => void (all += ` ${squeezed(text)}`),
    holds: (block) => all.includes(squeezed(block)),
  };
}

/** Texts of files, each at most once; those that do not exist are left out. */
export async function textsOf(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const texts = await Promise.all(paths.map((path) => readAgentFile(root, path, FILE_BYTES)));
  return new Set(texts.filter((text) => text !== undefined).map(squeezed));
}

export function squeezed(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}

/** A file of the attempt's channel. */
export async function ownFile(context: ReadContext, path: string): Promise<string | undefined> {
  const text = await readAgentFile(context.files.home, path, FILE_BYTES);
  return text === undefined ? undefined : context.redact(text);
}

/** The handoff file of the attempt, wherever the flow wants it. Of two that differ neither counts. */
export async function handoffFile(context: ReadContext): Promise<Result<string | undefined, Unreadable>> {
  const { files, handoffInWorkspace: place, workspaceDir, workspaceRoot = workspaceDir } = context;
  const inChannel = await ownFile(context, files.handoff);
  const text = place === undefined ? undefined : await readAgentFile(workspaceRoot, place, FILE_BYTES);
  if (text === undefined) return ok(inChannel);
  const inWorkspace = context.redact(text);
  if (inChannel === undefined || squeezed(inChannel) === squeezed(inWorkspace)) return ok(inWorkspace);
  const message = `${place} and ${files.handoff} are two different handoffs. Leave exactly one.`;
  return err({ code: "verdict_ambiguous", message });
}

/** Its place, for messages. */
export function handoffPlace({ files, handoffInWorkspace }: ReadContext): string {
  return handoffInWorkspace ?? files.handoff;
}

/** A file of the workspace. */
export async function workFile(context: ReadContext, path: string): Promise<string | undefined> {
  if (isAbsolute(path)) return undefined;
  const { workspaceDir, workspaceRoot = workspaceDir } = context;
  const text = await readAgentFile(workspaceRoot, join(workspaceDir, path), FILE_BYTES);
  return text === undefined ? undefined : context.redact(text);
}
