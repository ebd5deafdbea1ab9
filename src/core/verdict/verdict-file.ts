// The verdict file of the command runner: one JSON object that the agent writes into a folder of its attempt. Every flow can use it.
// An unknown key is refused by name: a misspelt key must not read as absent.

import { ok } from "../result.ts";
import { JSON_LIMITS, parseStrictJson } from "./json-text.ts";
import { clip, present, type Reading, unreadable, WORD_CHARS } from "./reading.ts";
import { createFieldReader, isObject, kindOf } from "./report-fields.ts";

const KEYS = [
  "verdict",
  "health",
  "reason",
  "score",
  "issues",
  "findings",
  "questions",
  "summary",
  "stages",
  "blame",
  "payload",
  "path",
  "handoff_path",
  "agent",
  "revision_loop",
  "next_agent",
  "status_update",
  "nonce",
];

/** Values that must match if the file has them: this attempt's nonce, its agent, the subject under the flow's own key. */
export type VerdictFileOptions = {
  readonly nonce?: string;
  readonly agent?: string;
  readonly subjectId?: string;
  readonly subjectKey?: string;
};

/** Whether the file carries this attempt's nonce; a file that cannot be read is signed if the nonce is anywhere in it. */
export function isSignedFile(text: string, nonce: string): boolean {
  const parsed = parseStrictJson(text, JSON_LIMITS);
  return parsed.ok && isObject(parsed.value) ? parsed.value["nonce"] === nonce : text.includes(nonce);
}

export function readVerdictFile(text: string, options: VerdictFileOptions = {}): Reading {
  if (text.length <= JSON_LIMITS.maxBytes && text.trim() === "")
    return unreadable("verdict_missing", "The verdict file is empty.");
  const parsed = parseStrictJson(text, JSON_LIMITS);
  if (!parsed.ok) return parsed;
  const object = parsed.value;
  if (!isObject(object))
    return unreadable("verdict_field_invalid", `The verdict file must hold one JSON object, not ${kindOf(object)}.`);
  const given = Object.keys(object);
  if (given.length === 0) return unreadable("verdict_missing", "The verdict file holds an empty object.");
  const unknown = given.find((key) => !KEYS.includes(key) && key !== options.subjectKey);
  if (unknown !== undefined) return unreadable("verdict_field_invalid", unknownKey(unknown));

  const fields = createFieldReader(object);
  const nonce = fields.text("nonce");
  if (nonce !== undefined && options.nonce !== undefined && nonce !== options.nonce) {
    return unreadable("verdict_stale", "The verdict file carries the nonce of another attempt.");
  }
  const subject = options.subjectKey === undefined ? undefined : fields.text(options.subjectKey);
  if (subject !== undefined && subject !== options.subjectId) {
    return unreadable(
      "verdict_wrong_subject",
      `The verdict file speaks of ${JSON.stringify(clip(subject, WORD_CHARS))}, not of this run.`,
    );
  }
  const agent = fields.text("agent");
  if (agent !== undefined && options.agent !== undefined && agent.toLowerCase() !== options.agent.toLowerCase()) {
    return unreadable(
      "verdict_wrong_subject",
      `The verdict file is signed by ${JSON.stringify(clip(agent, WORD_CHARS))}, not by ${options.agent}.`,
    );
  }
  const report = {
    verdict: fields.verdict(),
    health: fields.text("health", WORD_CHARS),
    reason: fields.text("reason"),
    score: fields.score(),
    issues: fields.issues(),
    findings: fields.findings(),
    questions: fields.questions(),
    summary: fields.text("summary"),
    stages: fields.stages(),
    blame: fields.blame(),
    payload: fields.object("payload"),
    path: fields.path("path") ?? fields.path("handoff_path"),
    claimed: fields.claimed(),
    warnings: fields.warnings(),
  };
  const fault = fields.fault();
  return fault ? unreadable(fault.code, fault.message) : ok(present(report));
}

function unknownKey(key: string): string {
  const near = KEYS.find((known) => known !== "nonce" && isNear(key.toLowerCase(), known));
  const shown = JSON.stringify(clip(key, WORD_CHARS));
  return `The verdict file has the unknown key ${shown}${near ? `; did you mean "${near}"?` : "."} Known keys: ${KEYS.join(", ")}.`;
}

/** One letter added, removed, changed or swapped, or only a different ending: the usual typos. */
function isNear(key: string, known: string): boolean {
  if (key.length > 20) return false;
  if (key.startsWith(known) || (key.length >= 4 && known.startsWith(key))) return true;
  let head = 0;
  while (head < key.length && key[head] === known[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(key.length, known.length) - head && key.at(-1 - tail) === known.at(-1 - tail)) tail += 1;
  const left = Math.max(key.length, known.length) - head - tail;
  return (
    left <= 1 ||
    (left === 2 && key.length === known.length && key[head] === known[head + 1] && key[head + 1] === known[head])
  );
}
