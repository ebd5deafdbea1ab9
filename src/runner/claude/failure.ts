// Maps failures of Claude Code to those of the port. Its own codes decide, then the HTTP status, then its known words. `subtype` says
// "success" for failed requests, so it decides only about limits.

import type { Failure } from "../runner.ts";
import { isLimit } from "../vendor-limit.ts";
import { withWords } from "../sentence.ts";
import type { ProgramEnd } from "../process/stream.ts";

/** Facts from the last result and the last error message. */
export type ClaudeTrouble = {
  readonly subtype: string | null;
  readonly terminalReason: string | null;
  readonly startupReason: string | null;
  readonly status: number | null;
  /** `api_error`: the most precise code. */
  readonly code: string | null;
  /** `error` of the message that replaces the failed request. */
  readonly name: string | null;
  readonly said: string;
  readonly resetsAt: string | null;
  /** It has retried the failed request: the provider asked for a short wait. */
  readonly retried: boolean;
};

export function failureOf(trouble: ClaudeTrouble): Failure {
  const kind = kindOf(trouble);
  const ends = isLimit(kind) && trouble.resetsAt !== null;
  const message = withWords(sentenceFor(kind, trouble), trouble.said);
  return { kind, message, ...(ends ? { resetsAt: trouble.resetsAt } : {}) };
}

/** Without a result, stderr is the only source. */
export function failureWithoutResult(end: ProgramEnd): Failure {
  const said = end.stderrTail.trim();
  const trouble = { ...NOTHING_TOLD, said };
  const kind = kindOf(trouble);
  if (kind !== "agent_crashed") return { kind, message: withWords(sentenceFor(kind, trouble), said) };
  const how = end.signal === null ? `ended with code ${end.exitCode ?? "unknown"}` : `was ended by ${end.signal}`;
  return { kind, message: withWords(`Claude Code ${how} before it reported a result`, said) };
}

const NOTHING_TOLD: ClaudeTrouble = {
  subtype: null,
  terminalReason: null,
  startupReason: null,
  status: null,
  code: null,
  name: null,
  said: "",
  resetsAt: null,
  retried: false,
};

function kindOf(trouble: ClaudeTrouble): Failure["kind"] {
  const { subtype, terminalReason, startupReason, status, code, name } = trouble;
  const said = trouble.said.slice(0, 4_000).toLowerCase();
  const speaksOf = (words: readonly string[]): boolean => words.some((word) => said.includes(word));
  if (subtype === "error_max_turns" || terminalReason === "max_turns") return "turn_limit";
  if (subtype === "error_max_budget_usd" || terminalReason === "budget_exhausted") return "budget";
  if (startupReason === "bypass_root" || speaksOf(ROOT)) return "denied";
  if (speaksOf(LOST_SESSION)) return "session_lost";
  const byCode = entry(BY_CODE, code);
  if (byCode !== undefined) return byCode;
  if (status === 401 || status === 403) return "auth";
  if (speaksOf(BILLING) || name === "billing_error") return trouble.resetsAt === null ? "billing" : "quota";
  if (status === 402) return "billing";
  // Claude Code retries a request by itself unless the provider asks for a longer wait than it sits out; it does not say how long.
  if (status === 429) return trouble.resetsAt !== null || speaksOf(QUOTA) || !trouble.retried ? "quota" : "rate_limit";
  if (status !== null && status >= 500) return "server_error";
  if (status !== null && status >= 400) return speaksOf(QUOTA) ? "quota" : "request_refused";
  if (speaksOf(QUOTA)) return "quota";
  if (speaksOf(UNREACHABLE)) return "unreachable";
  return entry(BY_NAME, name) ?? "agent_crashed";
}

/** The entry of a table for an untrusted name; `constructor` has none. */
export function entry<T>(table: Readonly<Record<string, T>>, name: unknown): T | undefined {
  return typeof name === "string" && Object.hasOwn(table, name) ? table[name] : undefined;
}

const BY_CODE: Readonly<Record<string, Failure["kind"]>> = {
  usage_limit_reached: "quota",
  model_requires_usage_credits: "billing",
  long_context_credits_required: "billing",
  connection_failed: "unreachable",
  tls_untrusted_ca: "unreachable",
  no_response: "server_error",
  stream_idle_timeout: "server_error",
  computer_slept: "server_error",
  stored_login_refused: "auth",
  provider_credentials: "auth",
  gateway_signin_required: "auth",
  gateway_session_expired: "auth",
  api_key_auth_disabled: "auth",
  org_disabled_credential: "auth",
  invalid_credential_header: "auth",
};

const BY_NAME: Readonly<Record<string, Failure["kind"]>> = {
  authentication_failed: "auth",
  oauth_org_not_allowed: "auth",
  account_on_hold: "auth",
  verification_required: "auth",
  cloud_credential_error: "auth",
  rate_limit: "rate_limit",
  overloaded: "server_error",
  server_error: "server_error",
  invalid_request: "request_refused",
  model_not_found: "request_refused",
};

const ROOT = ["cannot be used with root"];
const LOST_SESSION = ["no conversation found with session id", "--resume requires a valid session"];
const BILLING = ["credit balance"];
const QUOTA = ["usage limit", "hit your limit", "5-hour limit", "weekly limit", "spend limit"];
const UNREACHABLE = ["econnrefused", "enotfound", "eai_again", "enetunreach", "ehostunreach", "unable to connect"];

function sentenceFor(kind: Failure["kind"], { startupReason, terminalReason }: ClaudeTrouble): string {
  switch (kind) {
    case "auth":
      return "Claude Code is not logged in, or its key was refused: run `claude` once and log in, or set ANTHROPIC_API_KEY";
    case "rate_limit":
      return "Claude Code was asked to slow down";
    case "quota":
      return "The usage limit of the Claude account is reached";
    case "billing":
      return "The Claude account has no credit for this: add credit or choose another login";
    case "server_error":
      return "Claude Code's model provider failed";
    case "unreachable":
      return "Claude Code cannot reach its model provider: check the network and ANTHROPIC_BASE_URL";
    case "turn_limit":
      return "Claude Code used up the turns of this attempt: allow more with `turns`, or ask for less at once";
    case "tool_loop":
      return "Claude Code turned in a circle";
    case "budget":
      return "Claude Code spent what this attempt may cost: allow more with `max_cost`";
    case "denied":
      return "Claude Code refuses to run without permission checks as root: choose `permission: edit`, or do not run as root";
    case "session_lost":
      return "The Claude Code session to resume no longer exists";
    case "request_refused":
      return "Claude Code's request was refused";
    case "agent_crashed":
      if (terminalReason?.startsWith("aborted") === true)
        return "Claude Code was interrupted in the middle of its work";
      return startupReason === null ? "Claude Code ended with an error" : "Claude Code could not start";
  }
}
