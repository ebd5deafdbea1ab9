// The gateway of one attempt: a proxy on loopback that its agent's program asks instead of the vendors. It adds the keys, counts what each
// answer used, reads the limits that vendors tell, and lets the program reach the hosts of a list.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Usage } from "../core/budget/usage.ts";
import type { LimitUse } from "../core/run/limit-use.ts";
import type { GatewayAddress, ModelRoute, Variables } from "../runner/model-routes.ts";
import type { Failure } from "../runner/runner.ts";
import type { NewExchange } from "./tape.ts";

export type Gateway = {
  readonly address: GatewayAddress;
  /** For programs that shall reach other hosts through it; none where they go their own way. */
  readonly proxyVariables: Variables;
  close(): Promise<void>;
};

export type GatewayOptions = {
  readonly routes: readonly ModelRoute[];
  /** Hosts besides those of the routes; null: the program goes its own way to them. */
  readonly egress: EgressRules | null;
  /** The user's own proxy, for requests to vendors. */
  readonly proxyEnv: Variables;
  /** Asked before each request to a model: a sentence refuses it. */
  readonly admit: () => string | undefined;
  readonly onNews: (news: GatewayNews) => void;
  /** Told of every request to a model with its answer; null: nothing is recorded. */
  readonly record: ((exchange: NewExchange) => void) | null;
  /** Answers instead of the vendors; absent: requests leave this machine. */
  readonly answers?: ModelAnswers;
};

/** Who answers the requests to models. */
export type ModelAnswers = {
  /** `rest`: the path below the route, with its query. */
  send(request: IncomingMessage, response: ServerResponse, route: ModelRoute, rest: string): void;
  close(): void;
};

export type EgressRules = {
  /** `registry.npmjs.org`, `*.github.com`, and names of groups such as `github`. */
  readonly hosts: readonly string[];
  /** Names that may have an address of a private network. */
  readonly private: readonly string[];
  /** Passrail's own services, `127.0.0.1:port`: some programs use a proxy for them, too. Asked with each request. */
  readonly own: () => readonly string[];
};

export type GatewayNews =
  /** An answer that a model gave, with what it used as far as it says; null: it says nothing. */
  | { readonly type: "answered"; readonly model: string | null; readonly usage: Usage | null; readonly status: number }
  | { readonly type: "limits"; readonly uses: readonly LimitUse[] }
  /** The vendor answers no more for a while. */
  | { readonly type: "limited"; readonly failure: Failure }
  /** `what`: a host, or a path that is no request to a model. */
  | { readonly type: "refused"; readonly what: string; readonly why: string };
