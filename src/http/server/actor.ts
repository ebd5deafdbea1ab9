// Who stands in the record for what a caller does. Never what the caller says of itself.

import type { Actor } from "../../core/run/event.ts";
import type { Principal } from "./principal.ts";

export function actorOf(principal: Principal): Actor {
  // The table of routes lets only operators act; anybody else here is a hole in it.
  if (principal.kind !== "operator") throw new Error(`a ${principal.kind} acts`);
  return principal.actor;
}
