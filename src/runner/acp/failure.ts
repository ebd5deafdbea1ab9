// Maps an error of an agent's program to our failures: by its status code, else by its vendors' known words. Shared by the protocol and by
// the programs' own output formats.

import { resetTime } from "../reset-time.ts";
import type { Failure } from "../runner.ts";
import { isLimit, limitKind } from "../vendor-limit.ts";
import { count, fields, parseLine, text } from "../loose-json.ts";

/** The failing program, for sentences: `login` is the remedy when it is not logged in. */
export type AcpProgram = { readonly title: string; readonly login: string };

export type AcpTrouble = {
  /** HTTP status, if known. */
  readonly status: number | null;
  /** The program's own words. */
  readonly message: string;
  /** When a limit ends, if more than the words tell it. */
  readonly resetsAt?: string;
};

export function failureOf(program: AcpProgram, trouble: AcpTrouble, nowMs: number = Date.now()): Failure {
  const told = kindOf(trouble);
  const resetsAt = isLimit(told) ? (trouble.resetsAt ?? resetTime(trouble.message, nowMs)) : null;
  const kind = limitKind(told, resetsAt, nowMs);
  const said = oneLine(trouble.message);
  const why = [trouble.status === null ? "" : String(trouble.status), said].filter((part) => part !== "").join(": ");
  const message = `${program.title}: ${SENTENCES[kind](program)}${why === "" ? "" : ` (${why})`}.`;
  return { kind, message, ...(resetsAt === null ? {} : { resetsAt }) };
}

/** The error of a JSON-RPC answer: its code may be an HTTP status, which may also be in its data or in JSON in its message. */
export function troubleOfRpcError(error: {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}): AcpTrouble {
  const data = fields(error.data);
  const inner = fields(fields(parseLine(error.message))["error"]);
  const status =
    [error.code, data["status"], data["statusCode"], data["code"], fields(data["error"])["code"], inner["code"]]
      .map(count)
      .find((value) => value !== null && value >= 400 && value < 600) ?? null;
  const message = text(inner["message"]) ?? error.message;
  const details = [text(data["details"]), text(data["message"]), typeof error.data === "string" ? error.data : null];
  const whole = [message, ...details.filter((each) => each !== null && each !== message)].join(": ");
  if (status === null && error.code === AUTH_REQUIRED) return { status: 401, message: whole };
  return { status, message: whole };
}

/** A program's own error object, as `{ status, message }` or as JSON within a text such as `[API Error: {…}]`. */
export function troubleInText(message: string): AcpTrouble {
  const from = message.indexOf("{");
  const to = message.lastIndexOf("}");
  const inner = from >= 0 && to > from ? fields(fields(parseLine(message.slice(from, to + 1)))["error"]) : {};
  return { status: statusOnly(inner["code"]), message: text(inner["message"]) ?? message };
}

/** The protocol's code for a missing login. */
const AUTH_REQUIRED = -32_000;
const MESSAGE_CHARS = 600;

const SENTENCES: Readonly<Record<Failure["kind"], (program: AcpProgram) => string>> = {
  auth: ({ login }) => `the login was refused; ${login}`,
  rate_limit: () => "its model provider asks to slow down",
  quota: () => "a usage limit of its account is reached",
  billing: () => "its account has no credit for this; add credit or choose another login",
  server_error: () => "its model provider failed",
  unreachable: () => "its model provider cannot be reached; check the network and the configured address",
  turn_limit: () => "the limit of turns is reached",
  tool_loop: () => "it turned in a circle",
  budget: () => "its cost limit is reached",
  denied: () => "it ended because a permission was refused",
  session_lost: () => "the session to resume no longer exists",
  request_refused: () => "the request was refused",
  agent_crashed: () => "it ended with an error",
};

function kindOf({ status, message }: AcpTrouble): Failure["kind"] {
  const said = message.slice(0, 4_000).toLowerCase();
  const speaksOf = (words: readonly string[]): boolean => words.some((word) => said.includes(word));
  if (status === 429) return speaksOf(BILLING) ? "billing" : speaksOf(QUOTA) ? "quota" : "rate_limit";
  if (status === 401 || status === 403 || status === 407) return "auth";
  if (status === 402) return "billing";
  if (status !== null && status >= 500) return speaksOf(UNREACHABLE) ? "unreachable" : "server_error";
  if (status !== null && status >= 400) return speaksOf(BAD_KEY) ? "auth" : "request_refused";
  if (speaksOf(UNREACHABLE)) return "unreachable";
  if (speaksOf(NO_LOGIN)) return "auth";
  if (speaksOf(BILLING)) return "billing";
  if (speaksOf(QUOTA)) return "quota";
  if (speaksOf(RATE)) return "rate_limit";
  if (speaksOf(SERVER)) return "server_error";
  return "agent_crashed";
}

// Google answers a wrong key with 400.
const BAD_KEY = ["api key not valid", "api_key_invalid"];
const NO_LOGIN = [
  "api key",
  "api-key",
  "api_key",
  "apikey",
  "unauthorized",
  "unauthenticated",
  "authentication",
  "auth method",
  "not logged in",
  "log in",
  "login",
  "credentials",
  "forbidden",
];
const BILLING = ["billing", "insufficient", "credit", "payment required"];
const QUOTA = ["quota", "usage limit", "plan limit"];
const RATE = ["rate limit", "rate_limit", "too many requests", "slow down", "throttl"];
const SERVER = [
  "overloaded",
  "internal server error",
  "bad gateway",
  "service unavailable",
  "gateway timeout",
  "terminated",
  "socket",
  "other side closed",
  "stream ended",
];
const UNREACHABLE = [
  "econnrefused",
  "enotfound",
  "ehostunreach",
  "enetunreach",
  "eai_again",
  "getaddrinfo",
  "unable to connect",
  "connection refused",
  "fetch failed",
];

function statusOnly(value: unknown): number | null {
  const status = count(value);
  return status !== null && status >= 400 && status < 600 ? status : null;
}

function oneLine(message: string): string {
  const words = message
    .slice(0, 4 * MESSAGE_CHARS)
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== "")
    .join(" ");
  const line = words.endsWith(".") ? words.slice(0, -1) : words;
  return line.length <= MESSAGE_CHARS ? line : `${line.slice(0, MESSAGE_CHARS - 1)}…`;
}
