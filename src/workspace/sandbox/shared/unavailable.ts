// The one problem of every sandbox that cannot be had: nothing is started then, and nothing else takes its place.

import type { Problem } from "../../../core/result.ts";

export function unavailable(mode: string, what: string, hint: string): Problem {
  return { code: "sandbox_unavailable", message: `No ${mode} workspace: ${what}`, hint };
}
