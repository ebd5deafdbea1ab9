// POST /hooks/<source>: the door for senders that sign their deliveries. receive.ts turns bytes into an intent and carry-out.ts turns it
// into a change; this file joins the two, so that a delivery counts as taken only when its effect is durable.

import type { Context } from "hono";
import type { Refusal } from "../contract/problem.ts";
import type { Result } from "../../core/result.ts";
import { problem } from "../server/answer-problem.ts";
import type { SignedRoute } from "../server/app.ts";
import type { AppEnv } from "../server/app-env.ts";
import type { CarriedOut } from "./carried-out.ts";
import { carryOut, type CarryOutDeps } from "./carry-out.ts";
import { readRawBody, receive, type Received } from "./receive.ts";
import type { Replays } from "./replay.ts";
import type { WebhookSource } from "./source.ts";
import { optional } from "../../core/optional.ts";

export type InboundDeps = CarryOutDeps & {
  /** ISO 8601, UTC. */
  readonly now: () => string;
  /** The source as the settings and its secrets are at this moment: a revoked secret counts no longer. */
  readonly sourceOf: (name: string) => Promise<WebhookSource | undefined>;
  readonly replays: Replays;
  /** Called with an internal error, in one line, with the id that the sender got. */
  readonly onProblem: (text: string, requestId: string) => void;
  /** Deliveries of one source per minute. */
  readonly maxPerMinute?: number;
};

const MAX_PER_MINUTE = 120;
const MINUTE_MS = 60_000;

export function createInbound(deps: InboundDeps): readonly SignedRoute[] {
  const now = () => Date.parse(deps.now());
  const mayCarryOut = createRate(deps.maxPerMinute ?? MAX_PER_MINUTE, now);

  async function handle(context: Context<AppEnv>): Promise<Response> {
    const source = await deps.sourceOf(context.req.param("source") ?? "");
    // The same answer as for a wrong signature: a sender without a secret learns no names.
    if (source === undefined) return problem(context, { code: "signature_invalid", detail: "No signature fits." });
    if (context.req.header("expect") !== undefined) context.env?.outgoing?.writeContinue();
    const read = await readRawBody(context.req.raw);
    if ("refused" in read) return answer(context, read.refused);
    const received = await receive(
      { source, headers: context.req.raw.headers, rawBody: read.body },
      { replays: deps.replays, now },
    );
    if (received.code !== "accepted") return answer(context, received);
    // From here on the audit log knows the sender.
    context.set("principal", { kind: "webhook", id: `webhook:${source.name}`, source: source.name });
    const { claim, intent, signalId } = received;
    if (!mayCarryOut(source.name)) {
      claim.release();
      return problem(context, TOO_FAST);
    }
    let result: Result<CarriedOut, Refusal>;
    try {
      result = await carryOut(deps, { source, intent, signalId });
    } catch (error) {
      // The effect may or may not be stored; the next try finds out by the signal's id.
      claim.release();
      throw error;
    }
    if (!result.ok) {
      claim.release();
      return problem(context, result.error);
    }
    try {
      claim.keep();
    } catch (error) {
      // The effect is durable, and the engine knows the signal: a replay changes nothing.
      deps.onProblem(`A delivery's id could not be noted: ${String(error)}`, context.get("requestId"));
    }
    const { status, ...body } = result.value;
    return context.json(body, status);
  }

  return [{ path: "/hooks/:source", handle }];
}

const TOO_FAST: Refusal = {
  code: "too_many_deliveries",
  detail: "More deliveries of this source came within a minute than are carried out.",
  headers: { "retry-after": "60" },
};

function answer(context: Context<AppEnv>, received: Exclude<Received, { code: "accepted" }>): Response {
  if (!("detail" in received)) {
    return context.json({ code: received.code, detail: received.intent.reason }, received.status);
  }
  const { code, detail, pointer } = received;
  return problem(context, { code, detail, ...optional({ pointer }) });
}

/** Counts only deliveries with a valid signature: other senders cannot use up a source's share. */
function createRate(most: number, now: () => number): (source: string) => boolean {
  const windows = new Map<string, { readonly since: number; count: number }>();
  return (source) => {
    const known = windows.get(source);
    const window = known !== undefined && now() - known.since < MINUTE_MS ? known : { since: now(), count: 0 };
    windows.set(source, window);
    window.count += 1;
    return window.count <= most;
  };
}
