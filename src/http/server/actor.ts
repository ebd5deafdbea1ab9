// The actor that the record names for a caller. It comes from the token, never from the caller's input.

import type { Actor } from "../../core/run/event.ts";
import type { Principal } from "./principal.ts";

export function actorOf(principal: Principal): Actor {
  // The table of routes lets only operators act; any other principal here is a hole in it.
  if (principal.kind !== "operator") throw new Error(`a ${principal.kind} acts`);
  return principal.actor;
}
