// The programs of this machine that can play an agent right now, the best known first: a login that was seen comes before one that nobody
// can see without asking a vendor.

import type { RunnerName } from "../core/flow/agent-options.ts";
import type { Detected } from "./detect.ts";

export type ReadyRunner = { readonly runner: RunnerName; readonly version: string; readonly evidence: string };

export function readyRunners(detected: readonly Detected[]): readonly ReadyRunner[] {
  return (["yes", "unknown"] as const).flatMap((state) =>
    detected.flatMap((found): ReadyRunner[] => {
      if (found.status !== "found" || found.version === null || found.login.state !== state) return [];
      return [{ runner: found.runner, version: found.version, evidence: found.login.evidence }];
    }),
  );
}
