// Maps failures of Codex to those of the port. Codex reports only sentences: an HTTP status in them decides, then its known words.

import { fields, parseLine, text } from "../loose-json.ts";
import { resetTime } from "../reset-time.ts";
import type { Failure } from "../runner.ts";
import { isLimit, limitKind } from "../vendor-limit.ts";
import { withWords } from "../sentence.ts";
import type { ProgramEnd } from "../process/stream.ts";

/** The message of `turn.failed`. `knownReset`: when a limit ends, as another line of the program said. */
export function failureOf(message: string, nowMs: number, knownReset: string | null = null): Failure {
  const inner = fields(fields(parseLine(message))["error"]);
  const said = text(inner["message"]) ?? message;
  const told = kindOf(`${said} ${text(inner["type"]) ?? ""} ${text(inner["code"]) ?? ""}`);
  const resetsAt = isLimit(told) ? (resetTime(said, nowMs) ?? knownReset) : null;
  const kind = limitKind(told, resetsAt, nowMs);
  return { kind, message: withWords(SENTENCES[kind], said), ...(resetsAt === null ? {} : { resetsAt }) };
}

/** Without a finished turn, stderr is the only source. */
export function failureWithoutTurn(end: ProgramEnd): Failure {
  const said = explanation(end.stderrTail);
  if (LOST_SESSION.some((words) => said.includes(words))) {
    return { kind: "session_lost", message: withWords(SENTENCES.session_lost, said) };
  }
  if (said.includes("required MCP servers failed")) {
    return { kind: "agent_crashed", message: withWords("Codex could not connect to the tools that it is given", said) };
  }
  const how = end.signal === null ? `ended with code ${end.exitCode ?? "unknown"}` : `was ended by ${end.signal}`;
  return { kind: "agent_crashed", message: withWords(`Codex ${how} before it reported a result`, said) };
}

function kindOf(message: string): Failure["kind"] {
  const said = message.slice(0, 4_000).toLowerCase();
  const speaksOf = (words: readonly string[]): boolean => words.some((word) => said.includes(word));
  if (speaksOf(BILLING)) return "billing";
  if (speaksOf(QUOTA)) return "quota";
  const status = statusIn(said);
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "billing";
  if (status === 429) return "rate_limit";
  if (status !== null && status >= 500) return "server_error";
  if (status !== null && status >= 400) return "request_refused";
  if (speaksOf(AUTH)) return "auth";
  if (speaksOf(UNREACHABLE)) return "unreachable";
  if (speaksOf(RATE)) return "rate_limit";
  if (speaksOf(SERVER)) return "server_error";
  if (speaksOf(REFUSED)) return "request_refused";
  return "agent_crashed";
}

/** `unexpected status 401 Unauthorized`, `last status: 429 Too Many Requests`. */
function statusIn(said: string): number | null {
  const found = /status:? ([45]\d\d)\b/.exec(said);
  return found === null ? null : Number(found[1]);
}

// The API of OpenAI says "quota" when an account has no credit.
const BILLING = ["quota exceeded", "insufficient_quota", "out of credits", "billing details"];
const QUOTA = ["usage limit", "usage_limit", "upgrade to plus"];
const AUTH = ["invalid_api_key", "authentication", "not logged in", "log in", "sign in", "refresh token", "api key"];
const UNREACHABLE = [
  "connection failed",
  "error sending request",
  "failed to lookup address",
  "does not resolve",
  "connection refused",
  "waiting for network",
];
const RATE = ["rate limit", "rate_limit", "too many requests"];
const SERVER = ["high demand", "stream disconnected", "idle timeout", "overloaded", "at capacity", "server_error"];
const REFUSED = ["invalid_request", "invalid request", "context window", "not supported", "bad request"];
const LOST_SESSION = ["no rollout found", "thread/resume failed", "no saved session"];

const SENTENCES: Readonly<Record<Failure["kind"], string>> = {
  auth: "Codex is not logged in, or its key was refused: run `codex login`, or set CODEX_API_KEY",
  rate_limit: "Codex was asked to slow down",
  quota: "The usage limit of the Codex account is reached",
  billing: "The Codex account has no credit for this: add credit or choose another login",
  server_error: "Codex' model provider failed",
  unreachable: "Codex cannot reach its model provider: check the network and the provider's address",
  turn_limit: "Codex used up its turns",
  tool_loop: "Codex turned in a circle",
  budget: "Codex spent what it may",
  denied: "Codex ended because a permission was refused",
  session_lost: "The Codex conversation to resume no longer exists",
  request_refused: "Codex' request was refused",
  agent_crashed: "Codex ended with an error",
};

/** The lines of stderr that explain: the last `Error:` or, without one, the end. Warnings and log lines come before them. */
function explanation(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("WARNING: proceeding"));
  return lines.findLast((line) => line.toLowerCase().startsWith("error:")) ?? lines.at(-1) ?? "";
}
