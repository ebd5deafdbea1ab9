// Idempotency keys: a request with a key is carried out once, and a repeat gets the first answer, also after a restart. The claim is stored
// before the act and the answer after it. A claim without an answer means a crash in between: then a request whose effect is derived from
// its key, or is idempotent, is carried out again, and any other is refused.

import type { Refusal } from "../contract/problem.ts";
import type { ApiRoute } from "../contract/route.ts";
import type { Json } from "../../core/json.ts";
import { err, type Result } from "../../core/result.ts";
import type { Store } from "../../store/store.ts";

export type KeyedRequest = {
  /** The id of the principal; callers do not share keys. */
  readonly caller: string;
  readonly key: string;
  /** Equal only for the same method, path and body. */
  readonly request: string;
  readonly repeat: ApiRoute["repeat"];
  readonly act: () => Promise<Result<unknown, Refusal>>;
};

/** Refusals that change nothing are not stored: the caller may try again with the same key. */
export type Idempotency = (request: KeyedRequest) => Promise<Result<unknown, Refusal>>;

type Options = {
  readonly store: Pick<Store, "claimRequest" | "answerRequest" | "releaseRequest">;
  /** ISO 8601, UTC. */
  readonly now: () => string;
};

const KEPT_MS = 24 * 3600_000;
/** A larger answer is not stored; a repeat is carried out again, which changes nothing. */
const ANSWER_CHARS = 64 * 1024;

export function createIdempotency(options: Options): Idempotency {
  const running = new Map<string, { readonly request: string; readonly answer: Promise<Result<unknown, Refusal>> }>();
  return (wanted) => {
    const { caller, key, request } = wanted;
    const id = JSON.stringify([caller, key]);
    const other = running.get(id);
    if (other !== undefined) return other.request === request ? other.answer : Promise.resolve(err(REUSED));
    const answer = carryOutOnce(options, wanted).finally(() => running.delete(id));
    running.set(id, { request, answer });
    return answer;
  };
}

async function carryOutOnce({ store, now }: Options, wanted: KeyedRequest): Promise<Result<unknown, Refusal>> {
  const { caller, key, request, repeat } = wanted;
  const at = now();
  const forgetBefore = new Date(Date.parse(at) - KEPT_MS).toISOString();
  const claim = await store.claimRequest({ caller, key, request, at, forgetBefore });
  if (claim.type === "reused") return err(REUSED);
  if (claim.type === "answered")
    return repeat === "secret" ? err(spent(claim.answer)) : (claim.answer as Result<unknown, Refusal>);
  if (claim.type === "unanswered" && repeat !== undefined) return err(UNSURE);
  const result = await wanted.act();
  if (isFinal(result)) await remember(store, wanted, result);
  else await store.releaseRequest({ caller, key });
  return result;
}

async function remember(
  store: Options["store"],
  { caller, key, repeat }: KeyedRequest,
  result: Result<unknown, Refusal>,
): Promise<void> {
  // A secret is sent once and never stored.
  const answer = repeat === "secret" ? { ok: true, made: idOf(result) } : (result as unknown as Json);
  if (JSON.stringify(answer).length <= ANSWER_CHARS) await store.answerRequest({ caller, key }, answer);
}

/** Final answers: the request was carried out, or another caller was first. */
function isFinal(result: Result<unknown, Refusal>): boolean {
  return result.ok || result.error.code === "gate_not_waiting" || result.error.code === "item_not_waiting";
}

const REUSED: Refusal = {
  code: "idempotency_key_reused",
  detail: "This Idempotency-Key was sent with another request before.",
  hint: "Make a new key for every new request.",
};

/** The answer's own id, such as a key's; it is no secret. */
function idOf(result: Result<unknown, Refusal>): string | null {
  const { id } = (result.ok ? result.value : {}) as { readonly id?: unknown };
  return typeof id === "string" ? id : null;
}

function spent(answer: Json): Refusal {
  const { made } = answer as { readonly made?: Json };
  const what = typeof made === "string" ? ` and made ${made}` : "";
  return {
    code: "idempotency_key_spent",
    detail: `The request with this Idempotency-Key was carried out${what}. Its secret was answered once and is not kept.`,
    hint: "Revoke what was made if its secret is lost, and send a new request with a new key.",
  };
}

const UNSURE: Refusal = {
  code: "idempotency_key_spent",
  detail: "A request with this Idempotency-Key was interrupted; it may have been carried out.",
  hint: "Look whether it was, and send a new request with a new key if not.",
};
