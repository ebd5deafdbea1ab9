// One act outside: the intent is stored, the act is performed, and what the remote shows afterwards is stored. The remote's own answer is
// not needed for that: a connection that broke after the remote had accepted counts as done.

import type { OutwardLog, OutwardPermit } from "../../attempt/outward-log.ts";
import { failpoint } from "../../attempt/failpoint.ts";
import { err, type Problem, type Result } from "../../core/result.ts";
import type { DoneSight, OutwardIntent } from "../../core/run/outward-act.ts";

export type LandingAct<T> = {
  readonly intent: Omit<OutwardIntent, "key">;
  readonly send: () => Promise<Result<T>>;
  /** The state of the remote; null if it does not show the act. */
  readonly look: () => Promise<Result<T | null>>;
  readonly sightOf: (value: T) => DoneSight;
};

/** Performs the acts of one attempt. */
export type Acting = <T>(act: LandingAct<T>) => Promise<Result<T>>;

/** `repository`: the folder of the one that the acts are in, for a run over several. */
export function createActing(
  log: OutwardLog,
  stage: string,
  attempt: number,
  repository: string | null = null,
): Acting {
  let number = 0;
  const place = repository === null ? {} : { repository };
  return async ({ intent, send, look, sightOf }) => {
    const key = [stage, attempt, ...Object.values(place), ++number].join(":");
    const permit = await log.intend({ key, ...intent, ...place });
    if (permit.type !== "granted") return err({ code: CODES[permit.type], message: `Nothing left: ${permit.why}.` });
    failpoint("outward-intended");
    const sent = await send();
    failpoint("outward-done");
    const seen = sent.ok ? sent : await look();
    if (seen.ok && seen.value !== null) {
      await log.see(key, { result: "done", ...sightOf(seen.value) });
      failpoint("outward-seen");
      return { ok: true, value: seen.value };
    }
    if (sent.ok) return sent;
    // Without an answer the remote may still carry it out: the act stays open, and is looked for again.
    if (seen.ok && isAnswer(sent.error)) await log.see(key, { result: "not-done", why: sent.error.message });
    return sent;
  };
}

const CODES: Readonly<Record<Exclude<OutwardPermit["type"], "granted">, string>> = {
  held: "landing_held",
  refused: "not_wanted",
  untrusted: "trust_withdrawn",
};

function isAnswer({ code }: Problem): boolean {
  return code !== "unreachable" && code !== "server_error";
}
