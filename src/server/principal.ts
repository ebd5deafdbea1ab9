// Who speaks, as the token says and nothing else.

import type { Actor } from "../core/event.ts";
import type { AttemptIdentity } from "./parts.ts";

export type Principal =
  | { readonly kind: "operator"; readonly id: string; readonly actor: Actor }
  | { readonly kind: "viewer"; readonly id: string }
  | ({ readonly kind: "attempt"; readonly id: string } & AttemptIdentity)
  | { readonly kind: "webhook"; readonly id: string; readonly source: string }
  /** Holds a login code; it can become a session and nothing else. */
  | { readonly kind: "login"; readonly id: string };
