// Who speaks, as the token says and nothing else.

import type { Actor } from "../../core/run/event.ts";

/** The attempt that a token speaks for. */
export type AttemptRef = { readonly runId: string; readonly stage: string; readonly attempt: number };

export type Principal =
  /** `session`: by which session, where it is one of a browser. */
  | { readonly kind: "operator"; readonly id: string; readonly actor: Actor; readonly session?: string }
  | { readonly kind: "viewer"; readonly id: string }
  | ({ readonly kind: "attempt"; readonly id: string } & AttemptRef)
  | { readonly kind: "webhook"; readonly id: string; readonly source: string }
  /** Holds a login code; it can become a session and nothing else. */
  | { readonly kind: "login"; readonly id: string };

/** For people: under which name somebody stands in records. */
export function nameOf(principal: Principal): string {
  switch (principal.kind) {
    case "operator":
      return principal.actor;
    case "webhook":
      return `webhook:${principal.source}`;
    case "attempt":
      return principal.id;
    case "viewer":
    case "login":
      return principal.kind;
  }
}
