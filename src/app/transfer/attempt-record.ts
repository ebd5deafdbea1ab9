// The part of an attempt that travels to another machine: which of its files, and which of its recorded facts. Facts
// about processes, folders or other machines are left out, because they mean nothing there.

import { z } from "zod";
import { isName } from "../../core/flow/name.ts";
import type { Json, JsonObject } from "../../core/json.ts";

const FILES = [
  "prompt.md",
  "output.log",
  "events.jsonl",
  "changes.diff",
  "submission.json",
  "repair-prompt.md",
  "repair-output.log",
  "result/verdict.json",
  "result/handoff.md",
] as const;
export const TAPE = "tape.jsonl.zst";

/** A file of an attempt by its name in the attempt's folder. */
export function isAttemptFile(name: string): boolean {
  if (FILES.some((each) => each === name) || name === TAPE) return true;
  const check = /^check-(.{1,48})\.log$/u.exec(name)?.[1];
  return check === undefined ? /^turn-[1-9][0-9]{0,3}-(?:prompt\.md|output\.log)$/u.test(name) : isName(check);
}

/** `build-2`: the folder of an attempt. */
export function attemptOfFolder(folder: string): { readonly stage: string; readonly attempt: number } | undefined {
  const [, stage = "", number = ""] = /^([A-Za-z][A-Za-z0-9-]{0,47})-([1-9][0-9]{0,6})$/u.exec(folder) ?? [];
  return isName(stage) && number !== "" ? { stage, attempt: Number(number) } : undefined;
}

const FACTS = [
  "runner",
  "model",
  "ownCommand",
  "command",
  "exitCode",
  "ended",
  "detail",
  "rung",
  "toolCalls",
  "usage",
  "reportedMs",
  "session",
  "sessionBefore",
  "sparedTokens",
  "mode",
  "branch",
  "from",
  "to",
  "commits",
  "files",
  "repaired",
  "trust",
  "answer",
  "answers",
  "accepted",
  "workspace",
] as const;

export function carriedFacts(facts: JsonObject): JsonObject {
  return Object.fromEntries(FACTS.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])));
}

/** The same from a file by an unknown author. The folder of its workspace keeps only its last name: a replay names its own after it. */
export function importedFacts(
  facts: JsonObject,
  own: { readonly folder: string; readonly output: string | null },
): JsonObject {
  const { workspace, mode, ...rest } = carriedFacts(facts);
  const name = /([a-z0-9][a-z0-9-]{0,127})$/u.exec(typeof workspace === "string" ? workspace : "")?.[1];
  return {
    ...rest,
    ...(typeof mode === "string" && /^[a-z-]{1,20}$/u.test(mode) ? { mode } : {}),
    ...(name === undefined ? {} : { workspace: `${own.folder}/${name}` }),
    ...(own.output === null ? {} : { output: own.output }),
  };
}

const json: z.ZodType<Json> = z.json();

/** The file `attempts.json`. */
export const attemptsSchema = z
  .array(
    z.strictObject({
      stage: z.string().refine(isName),
      attempt: z.int().min(1).max(9_999_999),
      facts: z.record(z.string().max(40), json),
    }),
  )
  .max(20_000);

/** The file `history.jsonl`: one event with its hash on a line. */
export const eventLineSchema = z.strictObject({
  hash: z.string().regex(/^[\w-]{43}$/u),
  event: z.looseObject({
    type: z.string().max(60),
    at: z.iso.datetime(),
    actor: z.string().regex(/^(?:engine|system|(?:agent|human):[^\p{Cc}]{1,200})$/u),
  }),
});
