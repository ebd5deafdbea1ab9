// Calls of the daemon's API, typed by its contract. Only types come from there: the schemas stay on the server, which checks everything anyway.

import type { ProblemDocument } from "../../../src/http/contract/problem.ts";
import type { Method } from "../../../src/http/contract/route.ts";
import type { ROUTES, RouteName } from "../../../src/http/contract/routes.ts";
import type { AnswerTo, InputTo, JsonRouteName } from "../../../src/http/client/input.ts";
import { currentToken, endSession } from "./session.ts";
import { optional } from "../../../src/core/optional.ts";

/** Method and path of what the dashboard calls; each line is held against the contract by its type. */
const CALLS = {
  answerItem: ["post", "/api/inbox/{item}/answer"],
  attemptFile: ["get", "/api/runs/{run}/attempts/{stage}/{attempt}/{file}"],
  cancelRun: ["post", "/api/runs/{run}/cancel"],
  cost: ["get", "/api/cost"],
  createTicket: ["post", "/api/tickets"],
  createKey: ["post", "/api/keys"],
  editTicket: ["patch", "/api/tickets/{ticket}"],
  enableEndpoint: ["post", "/api/endpoints/{endpoint}/enable"],
  endSession: ["delete", "/api/sessions/current"],
  flowSource: ["get", "/api/flows/{flow}/source"],
  flowStats: ["get", "/api/flows/{flow}/stats"],
  health: ["get", "/api/health"],
  insights: ["get", "/api/insights"],
  listActs: ["get", "/api/runs/{run}/acts"],
  listAgents: ["get", "/api/agents"],
  listDecisions: ["get", "/api/decisions"],
  listAudit: ["get", "/api/audit"],
  listDeliveries: ["get", "/api/deliveries"],
  listEndpoints: ["get", "/api/endpoints"],
  listFlows: ["get", "/api/flows"],
  listHandoffs: ["get", "/api/handoffs"],
  listInbox: ["get", "/api/inbox"],
  listKeys: ["get", "/api/keys"],
  listRuns: ["get", "/api/runs"],
  listRunners: ["get", "/api/runners"],
  listTickets: ["get", "/api/tickets"],
  listWorkers: ["get", "/api/workers"],
  pauseRun: ["post", "/api/runs/{run}/pause"],
  redeliver: ["post", "/api/deliveries/{delivery}/redeliver"],
  rerunFrom: ["post", "/api/runs/{run}/rerun"],
  resumeRun: ["post", "/api/runs/{run}/resume"],
  retryStage: ["post", "/api/runs/{run}/retry"],
  revokeKey: ["delete", "/api/keys/{key}"],
  runDiff: ["get", "/api/runs/{run}/diff"],
  runEvents: ["get", "/api/runs/{run}/events"],
  searchFile: ["get", "/api/runs/{run}/attempts/{stage}/{attempt}/{file}/search"],
  settings: ["get", "/api/settings"],
  showFeature: ["get", "/api/runs/{run}/feature"],
  showFlow: ["get", "/api/flows/{flow}"],
  showItem: ["get", "/api/inbox/{item}"],
  showProject: ["get", "/api/project"],
  showRun: ["get", "/api/runs/{run}"],
  showTicket: ["get", "/api/tickets/{ticket}"],
  skipStage: ["post", "/api/runs/{run}/skip"],
  startDemo: ["post", "/api/demo"],
  startTicket: ["post", "/api/tickets/{ticket}/start"],
  startRun: ["post", "/api/runs"],
  testEndpoint: ["post", "/api/endpoints/{endpoint}/test"],
  ticketProblems: ["get", "/api/tickets/problems"],
  whoami: ["get", "/api/whoami"],
} as const satisfies Partial<{
  [N in RouteName]: readonly [(typeof ROUTES)[N]["method"], (typeof ROUTES)[N]["path"]];
}>;

export type CallName = keyof typeof CALLS & JsonRouteName;
export type Problem = Pick<ProblemDocument, "code" | "detail" | "status"> & Partial<ProblemDocument>;

/** What went wrong, in the daemon's own words; `daemon_unreachable` where it did not answer. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ApiError";
    this.problem = problem;
  }
}

export type CallOptions = { readonly ifMatch?: string; readonly signal?: AbortSignal };

export async function call<N extends CallName>(
  name: N,
  input: InputTo<N>,
  options: CallOptions = {},
): Promise<AnswerTo<N>> {
  const [method, path] = CALLS[name] as readonly [Method, string];
  const { params = {}, query = {}, body } = input as Loose;
  const target = path.replaceAll(/\{([a-z]+)\}/g, (_, key: string) => encodeURIComponent(String(params[key] ?? "")));
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  ).toString();
  const response = await send(`${target}${search === "" ? "" : `?${search}`}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${currentToken() ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(options.ifMatch === undefined ? {} : { "if-match": `"${options.ifMatch}"` }),
      ...(method === "post" || method === "patch" ? { "idempotency-key": crypto.randomUUID() } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...optional({ signal: options.signal }),
  });
  const answer: unknown = await response.json().catch((cause: unknown) => {
    // Nobody waits for it any more; that is no answer of the daemon.
    if (options.signal?.aborted === true) throw cause;
    return undefined;
  });
  if (response.ok) return answer as AnswerTo<N>;
  if (response.status === 401) endSession(false);
  throw new ApiError(isProblem(answer) ? answer : unreadable(response.status));
}

type Loose = {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
};

async function send(target: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(target, init);
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    throw new ApiError({
      code: "daemon_unreachable",
      status: 0,
      detail: "The daemon does not answer.",
      hint: "passrail status",
    });
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value;
}

function unreadable(status: number): Problem {
  return { code: "answer_unreadable", status, detail: `The daemon answered ${status} with something unreadable.` };
}
