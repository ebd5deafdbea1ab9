// The port through which a running attempt talks back: it submits its verdict and asks people, by two MCP tools. One place per attempt, with a
// token that is its only right and that ends with it. What a submission means is decided by whoever opened the place.

import type { JsonObject } from "../../core/json.ts";

export interface Desk {
  /** Opens a place for one attempt. The listener is started with the first one. */
  open(place: DeskPlace): Promise<OpenPlace>;
  /** Ends every place and the listener. */
  close(): Promise<void>;
}

export type DeskPlace = {
  /** JSON Schema of the arguments of submit_verdict; what is wrong by it is answered without calling `submit`. Null: not offered. */
  readonly verdictSchema: JsonObject | null;
  /** Whether ask_human is offered. */
  readonly mayAsk: boolean;
  /** `text` is the JSON of the arguments as they were sent, so that nothing is lost on the way (duplicate keys were refused before). */
  readonly submit: (text: string) => Promise<DeskAnswer>;
  readonly ask: (question: { readonly question: string; readonly options: readonly string[] }) => Promise<DeskAnswer>;
};

/** What the agent is told. `accepted: false` is an error of the tool call that the agent can correct; `true` ends its turn where it can. */
export type DeskAnswer = { readonly accepted: boolean; readonly text: string };

export type OpenPlace = {
  /** Streamable HTTP endpoint on loopback. */
  readonly url: string;
  readonly token: string;
  /** From now on the token opens nothing. */
  close(): void;
};
