// The port through which a running attempt talks back: it submits its verdict and asks people, through two MCP tools. Each attempt has one
// place and a token that expires with it. The opener of the place decides about submissions.

import type { JsonObject } from "../../core/json.ts";
import type { PermissionDecision, PermissionRequest } from "../runner.ts";

export interface Desk {
  /** Opens a place for one attempt. The first one starts the listener. */
  open(place: DeskPlace): Promise<OpenPlace>;
  /** Closes every place and the listener. */
  close(): Promise<void>;
}

export type DeskPlace = {
  /** JSON Schema of the arguments of submit_verdict; a violation is answered without calling `submit`. Null: not offered. */
  readonly verdictSchema: JsonObject | null;
  /** Whether ask_human is offered. */
  readonly mayAsk: boolean;
  /** `text` is the JSON of the arguments as sent, so that nothing is lost (duplicate keys were refused before). */
  readonly submit: (text: string) => Promise<DeskAnswer>;
  /** It may wait for a person; the signal aborts when the client no longer waits. */
  readonly ask: (question: DeskQuestion, gone?: AbortSignal) => Promise<DeskAnswer>;
  /** Decides a call that the agent's program does not decide itself; absent: not offered. It may wait for a person. */
  readonly permit?: (request: PermissionRequest) => Promise<PermissionDecision>;
};

export type DeskQuestion = { readonly question: string; readonly options: readonly string[] };

/**
 * The answer to the agent. `accepted: false` is an error of the tool call that the agent can correct; `true` ends its turn if the program
 * supports that, unless the agent `goesOn`.
 */
export type DeskAnswer = { readonly accepted: boolean; readonly text: string; readonly goesOn?: true };

export type OpenPlace = {
  /** Streamable HTTP endpoint on loopback. */
  readonly url: string;
  readonly token: string;
  /** Whether the program may ask for permission here. */
  readonly permits: boolean;
  /** Revokes the token. */
  close(): void;
};
