// A person reports that a ticket's work is merged. Passrail verifies it first; unverifiable work counts only with the person's own reason,
// and the record says so.

import type { Report } from "../../core/flow/outcome.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Forge } from "../../forge/forge.ts";
import { inRepository } from "../../git/git.ts";
import { resolveCommits } from "../../git/repository.ts";
import { reportOf } from "./merge-stage.ts";
import { type Landed, landedPayload } from "../../core/ticket/landed.ts";
import { requestOf } from "./record.ts";

export async function proveMerge(forge: Forge, landed: Landed, commit: string | undefined): Promise<Result<Report>> {
  if (commit !== undefined) return proveCommit(forge, landed, commit);
  const seen = await forge.look(requestOf(landed));
  if (!seen.ok) return seen;
  const report = seen.value.state === "merged" ? reportOf(seen.value, landed) : undefined;
  if (seen.value.state !== "merged" || report === undefined) return err(notSeen(landed, whatWasSeen(seen.value)));
  const kept = await forge.keep(seen.value.commit);
  return kept.ok ? ok(report) : kept;
}

/** The person names the resulting commit; Passrail verifies that it is in the target. */
async function proveCommit(forge: Forge, landed: Landed, named: string): Promise<Result<Report>> {
  if (!/^[0-9a-f]{7,64}$/u.test(named))
    return err({ code: "invalid_commit", message: `"${named.slice(0, 80)}" is not the id of a commit.` });
  const head = await forge.head(landed.target);
  if (!head.ok) return head;
  const found = await resolveCommits(forge.gitDir, [named], inRepository(forge.gitDir));
  if (!found.ok) return found;
  const [commit] = found.value;
  const reached = commit == null ? ok(false) : await forge.contains(landed.target, commit);
  if (!reached.ok) return reached;
  if (commit == null || !reached.value) return err(notSeen(landed, `${landed.target} does not hold ${named}`));
  const kept = await forge.keep(commit);
  if (!kept.ok) return kept;
  const summary = `A person said that the work is ${commit}, and ${landed.target} holds it.`;
  return ok({
    structured: true,
    verdict: "pass",
    summary,
    payload: landedPayload({ ...landed, commit, how: "merged" }),
  });
}

/** Nothing is proven; the reason is kept and shown. */
export function forcedReport(landed: Landed | undefined, reason: string): Report {
  const payload = landed === undefined ? {} : { payload: landedPayload({ ...landed, how: "forced" }, { reason }) };
  const warnings = [`merge_not_proven: a person ended the wait without proof: ${reason}`];
  return { structured: true, verdict: "pass", summary: `Not proven, a person's word: ${reason}`, warnings, ...payload };
}

function whatWasSeen(state: {
  readonly state: string;
  readonly note?: string | null;
  readonly reason?: string;
  readonly summary?: string;
}): string {
  const more = state.reason ?? state.note ?? state.summary;
  return more == null ? `it is ${state.state}` : `it is ${state.state}: ${more}`;
}

function notSeen({ branch, target, pr }: Landed, seen: string) {
  const what = pr?.url ?? `${branch} into ${target}`;
  return {
    code: "not_merged",
    message: `The merge of ${what} is not to be seen; ${seen}.`,
    hint: 'Name the commit that holds the work with --commit, or say why it counts without proof: --force --reason "…"',
  };
}
