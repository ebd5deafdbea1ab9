// The outcome of a delivery, and the actor behind it.

import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import type { WebhookSource } from "./source.ts";

/** 202: taken. 200: taken earlier, nothing changed. */
export type CarriedOut = {
  readonly status: 200 | 202;
  readonly code: "accepted" | "requested" | "already_done" | "ignored_event";
  readonly detail: string;
  readonly run?: { readonly id: string; readonly status: Run["status"]; readonly word: string };
};

export function carriedOut(code: CarriedOut["code"], detail: string, { id, status, word }: Run): CarriedOut {
  return { status: code === "already_done" ? 200 : 202, code, detail, run: { id, status, word } };
}

/** The record names a person outside, whom the operator lets act through this source. */
export function senderOf({ name }: WebhookSource): Actor {
  return `human:webhook:${name}`;
}
