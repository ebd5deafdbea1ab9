// The principal of a request, determined by its token alone.

import type { Actor } from "../../core/run/event.ts";

/** The attempt that a token belongs to. */
export type AttemptRef = { readonly runId: string; readonly stage: string; readonly attempt: number };

/** An agent outside, with a key of its own; `story`: the only one that the key is good for. */
export type AgentPrincipal = {
  readonly kind: "agent";
  readonly id: string;
  readonly agent: string;
  readonly story?: string;
};

export type Principal =
  /** `session`: the browser session, if it is one. `device`: its key belongs to a paired device. */
  | {
      readonly kind: "operator";
      readonly id: string;
      readonly actor: Actor;
      readonly session?: string;
      readonly device?: true;
    }
  | { readonly kind: "viewer"; readonly id: string }
  | AgentPrincipal
  | ({ readonly kind: "attempt"; readonly id: string } & AttemptRef)
  /** `labels`: the only ones that it may have; null: any. */
  | {
      readonly kind: "worker";
      readonly id: string;
      readonly name: string;
      readonly labels: readonly string[] | null;
    }
  | { readonly kind: "webhook"; readonly id: string; readonly source: string }
  /** Holds a login code, which can only become a session. */
  | { readonly kind: "login"; readonly id: string };

/** The name of a principal in records. */
export function nameOf(principal: Principal): string {
  switch (principal.kind) {
    case "operator":
      return principal.actor;
    case "worker":
      return `worker:${principal.name}`;
    case "webhook":
      return `webhook:${principal.source}`;
    case "agent":
      return `agent:${principal.agent}`;
    case "attempt":
      return principal.id;
    case "viewer":
    case "login":
      return principal.kind;
  }
}
