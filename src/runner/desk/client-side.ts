// What a call may use of its client while it runs. Everything is optional: old clients and plain requests have none of it.

import type { Json, JsonObject } from "../../core/json.ts";

export type ClientSide = {
  /** Aborts when the client no longer waits. */
  readonly signal?: AbortSignal;
  /** Sends a notification before the answer. */
  readonly notify?: (message: JsonObject) => void;
  /** Present if the client can show its person a form. */
  readonly elicit?: (question: Elicitation) => Promise<Elicited>;
};

/** A form for the person at the client. */
export type Elicitation = {
  readonly message: string;
  /** A flat object of texts and choices: all that clients show. */
  readonly requestedSchema: JsonObject;
  /** What the answer is bound to. It comes back with the answer and may have been changed on the way. */
  readonly state: string;
};

export type Elicited =
  | { readonly action: "accept"; readonly content: JsonObject; readonly state: string }
  | { readonly action: "decline" | "cancel" }
  /** The client asks now and sends the call again with the answer. */
  | { readonly action: "pending" };

/** Reports progress if the caller of this request asked for it. */
export type ReportProgress = (done: number, total: number, message: string) => void;

export function progressOf(params: JsonObject, notify: ClientSide["notify"]): ReportProgress | undefined {
  const meta = params["_meta"];
  const progressToken = typeof meta === "object" && meta !== null ? (meta as JsonObject)["progressToken"] : undefined;
  if (notify === undefined || !isToken(progressToken)) return undefined;
  let last = -1;
  return (done, total, message) => {
    // The protocol wants every report to be higher than the one before.
    if (done <= last) return;
    last = done;
    notify({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: done, total, message },
    });
  };
}

const MAX_TOKEN_CHARS = 200;

function isToken(token: Json | undefined): token is string | number {
  return typeof token === "number" || (typeof token === "string" && token.length <= MAX_TOKEN_CHARS);
}
