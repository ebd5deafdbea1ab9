// `discard`: a person does not want the work of a run that has ended. Its branch is removed as an act outside: the intent is stored, the
// commit is pinned, the branch goes, and an event says where the commits still are.

import { type Delivering, deliver } from "../../app/deliver.ts";
import { branchOf } from "../../core/run/branch.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import { openActs } from "../../core/run/outward.ts";
import type { DoneSight, OutwardSight } from "../../core/run/outward-act.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Run } from "../../core/run/run.ts";
import { checkedOut } from "../../forge/local.ts";
import { git, inRepository } from "../../git/git.ts";
import { pinCommit } from "../../git/pin.ts";
import { resolveCommits } from "../../git/repository.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { Store } from "../../store/store.ts";
import { repositoryOf } from "./branches.ts";

/** Asks, acts and reports in one process. If it dies in between, the stored command finishes the act. */
export async function discardWork(
  delivering: Delivering,
  run: Run,
  commit: string,
  actor: Actor,
): Promise<Result<DoneSight>> {
  const { store } = delivering;
  const branch = branchOf((await flowOf(store, run)).flow, run);
  const checked = await checkDiscard(projectOf(run), branch, commit);
  if (!checked.ok) return checked;
  const asked = await deliver(delivering, run, { type: "discard.requested", branch, commit }, { actor });
  if (!asked.ok) return err({ code: "discard_refused", message: asked.error });
  const { run: now } = asked.value;
  const act = openActs(now).find(({ verb }) => verb === "discard");
  const sight = await removeDiscarded(store, run, commit);
  // Another process may have finished the act by now; then the run refuses the second record.
  if (act !== undefined)
    await deliver(
      delivering,
      now,
      { type: "outward.seen", key: act.key, sight },
      { actor: "engine", key: `seen:${act.key}` },
    );
  return sight.result === "done" ? ok(sight) : err({ code: "discard_failed", message: sight.why });
}

/** The act itself. Repeating it changes nothing. The run names the branch: the stored name is without secrets. */
export async function removeDiscarded(store: Pick<Store, "loadFlow">, run: Run, commit: string): Promise<OutwardSight> {
  const removed = await removeBranch(run, branchOf((await flowOf(store, run)).flow, run), commit);
  if (!removed.ok) return { result: "not-done", why: removed.error.message };
  return { result: "done", commit, number: null, url: null, keptAs: removed.value };
}

/** Returns the ref that keeps the commit. */
async function removeBranch(run: Run, branch: string, commit: string): Promise<Result<string>> {
  const place = await checkDiscard(projectOf(run), branch, commit);
  if (!place.ok) return place;
  const { commonDir, isThere } = place.value;
  const pinned = await pinCommit(commonDir, run.id, commit);
  if (!pinned.ok || !isThere) return pinned;
  const args = ["update-ref", "--no-deref", "-d", `refs/heads/${branch}`, commit];
  const gone = await git(commonDir, args, inRepository(commonDir));
  if (gone.ok) return pinned;
  // An engine performs the stored act at the same time: the second finds the branch gone.
  const after = await checkDiscard(projectOf(run), branch, commit);
  return after.ok && !after.value.isThere ? pinned : gone;
}

type DiscardPlace = { readonly commonDir: string; readonly isThere: boolean };

/** A branch that has moved or is checked out stays. */
async function checkDiscard(project: string, branch: string, commit: string): Promise<Result<DiscardPlace>> {
  const commonDir = await repositoryOf(project);
  if (!commonDir.ok) return commonDir;
  const here = inRepository(commonDir.value);
  const found = await resolveCommits(commonDir.value, [`refs/heads/${branch}`], here);
  if (!found.ok) return found;
  const [head] = found.value;
  if (head == null) return ok({ commonDir: commonDir.value, isThere: false });
  if (head !== commit) return err({ code: "branch_moved", message: `${branch} has moved to ${head}; it was kept.` });
  const user = await checkedOut(commonDir.value, branch);
  if (!user.ok) return user;
  return user.value === null
    ? ok({ commonDir: commonDir.value, isThere: true })
    : err({ code: "branch_in_use", message: `${branch} is checked out in ${user.value}; it was kept.` });
}
