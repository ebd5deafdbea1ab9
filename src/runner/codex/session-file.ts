// The usage of a Codex conversation from its rollout file. Measured with 0.166.0: after every answer of the model Codex appends a
// `token_usage_record` with the numbers of that answer, and after its tools a `token_count` with the totals of the conversation. The answers
// are summed up, because the totals forget: a resumed conversation counts on from its last `token_count`, without the answer whose tools
// were cut off. Older versions write only totals.

import { homedir } from "node:os";
import { join } from "node:path";
import { addUsage, type Usage } from "../../core/budget/usage.ts";
import { count, type Fields, fields, parseLine, text as stringOf } from "../loose-json.ts";
import type { LimitUse } from "../../core/run/limit-use.ts";
import { epochTime } from "../reset-time.ts";
import {
  ANSWERS_AT_MOST,
  namesIn,
  openJournal,
  type SessionJournal,
  type SessionPlaces,
  type SessionTells,
  sessionFolders,
} from "../session-journal.ts";

export function openCodexSession(id: string, places: SessionPlaces, tells: SessionTells): () => Usage | null {
  const answers = new Map<string, Usage>();
  let journal: SessionJournal | undefined;
  let total: Usage | null = null;
  const anew = (): void => {
    answers.clear();
    total = null;
  };
  const line = (text: string): void => {
    // Most lines are long texts without numbers.
    if (!text.includes("token")) return;
    const record = fields(parseLine(text));
    const payload = fields(record["payload"]);
    const answer = record["type"] === "token_usage_record" ? usageOf(fields(payload["usage"])) : null;
    if (answer !== null && answers.size < ANSWERS_AT_MOST) {
      answers.set(stringOf(payload["response_id"]) ?? `${answers.size}`, answer);
      tells.answer?.(answer);
    }
    if (record["type"] !== "event_msg" || payload["type"] !== "token_count") return;
    total = usageOf(fields(fields(payload["info"])["total_token_usage"])) ?? total;
    const uses = limitUses(fields(payload["rate_limits"]));
    if (uses.length > 0) tells.limits?.(uses);
  };
  return () => {
    journal ??= findRollout(id, places);
    journal?.read({ line, anew });
    return answers.size === 0 ? total : [...answers.values()].reduce(addUsage);
  };
}

/** `primary` and `secondary`: the windows of a ChatGPT plan, of five hours and of a week. */
function limitUses(limits: Fields): readonly LimitUse[] {
  return ["primary", "secondary"].flatMap((name) => {
    const { used_percent: percent, window_minutes: minutes, resets_at: ends } = fields(limits[name]);
    if (typeof percent !== "number") return [];
    return [{ window: windowName(count(minutes)), share: percent / 100, resetsAt: epochTime(ends) ?? null }];
  });
}

function windowName(minutes: number | null): string {
  if (minutes === null) return "usage";
  const hours = Math.round(minutes / 60);
  return hours % 24 === 0 && hours > 0 ? `${hours / 24}-day` : `${hours}-hour`;
}

function usageOf(counts: Fields): Usage | null {
  const [inputTokens, outputTokens] = [count(counts["input_tokens"]), count(counts["output_tokens"])];
  if (inputTokens === null && outputTokens === null) return null;
  return { usd: null, inputTokens, outputTokens, cachedTokens: count(counts["cached_input_tokens"]) };
}

/** `sessions/2026/11/17/rollout-2026-11-17T23-04-54-<id>.jsonl`: the day on which the conversation began, in local time. */
function findRollout(id: string, places: SessionPlaces): SessionJournal | undefined {
  const { env } = places;
  for (const folder of sessionFolders(places, env["CODEX_HOME"] ?? join(env["HOME"] ?? homedir(), ".codex"))) {
    for (const day of daysOf(id)) {
      const path = join(folder.path, "sessions", ...day);
      const isOfIt = (name: string): boolean => name.startsWith("rollout-") && name.endsWith(`-${id}.jsonl`);
      const name = namesIn(folder, path).find(isOfIt);
      if (name !== undefined) return openJournal(folder.root, join(path, name));
    }
  }
  return undefined;
}

const DAY_MS = 24 * 60 * 60_000;

/** The id begins with the time of the conversation, in milliseconds; the day may be the one beside it. */
function daysOf(id: string): readonly (readonly string[])[] {
  const at = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  if (!Number.isFinite(at) || at > 8e15) return [];
  return [0, -DAY_MS, DAY_MS].map((shift) => new Date(at + shift).toISOString().slice(0, 10).split("-"));
}
