// The programs that can play agents here, cached for a while: asking them starts processes, and a page must not wait for that.

import type { Detected } from "./detect.ts";

export type KnownRunners = {
  readonly runners: readonly RunnerInfo[];
  readonly checkedAt: string | null;
  readonly checking: boolean;
};
export type RunnerInfo = {
  readonly runner: string;
  readonly found: boolean;
  readonly path: string | null;
  readonly version: string | null;
  readonly login: "yes" | "no" | "unknown";
  readonly evidence: string;
  readonly fix: string;
};

const FRESH_MS = 30_000;
/** The first caller waits this long; then the answer is that detection is under way. */
const PATIENCE_MS = 1500;

export type RunnerWatch = {
  readonly detect: () => Promise<readonly Detected[]>;
  /** ISO 8601, UTC. */
  readonly now: () => string;
  readonly onProblem: (error: unknown) => void;
};

export function createKnownRunners({ detect, now, onProblem }: RunnerWatch): () => Promise<KnownRunners> {
  let known: { readonly runners: readonly RunnerInfo[]; readonly checkedAt: string } | undefined;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      known = { runners: (await detect()).map(shown), checkedAt: now() };
    } catch (error) {
      onProblem(error);
    } finally {
      asking = undefined;
    }
  }

  return async () => {
    const age = known === undefined ? Number.POSITIVE_INFINITY : Date.parse(now()) - Date.parse(known.checkedAt);
    if (age > FRESH_MS) asking ??= ask();
    if (known === undefined && asking !== undefined) await Promise.race([asking, patience()]);
    return {
      runners: known?.runners ?? [],
      checkedAt: known?.checkedAt ?? null,
      checking: asking !== undefined,
    };
  };
}

function shown(detected: Detected): RunnerInfo {
  const { runner, fix } = detected;
  if (detected.status === "missing")
    return { runner, found: false, path: null, version: null, login: "unknown", evidence: detected.detail, fix };
  const { path, version, login } = detected;
  return { runner, found: true, path, version, login: login.state, evidence: login.evidence, fix };
}

function patience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
}
