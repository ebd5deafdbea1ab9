// The one problem of every unavailable sandbox: Passrail starts nothing, and nothing else in its place.

import type { Problem } from "../../../core/result.ts";

export function unavailable(mode: string, what: string, hint: string): Problem {
  return { code: "sandbox_unavailable", message: `No ${mode} workspace: ${what}`, hint };
}
