// GitHub: a plain remote that also has pull requests. A merge counts when GitHub reports it, its commit is reachable from the target, and
// the merged head contains the approved commit.

import { err, ok, type Result } from "../../core/result.ts";
import { checkBranchName } from "../../git/branch-name.ts";
import type { Forge, Proposal, PullRequest, PullRequestState } from "../forge.ts";
import type { GitHubApi, Pull } from "./api.ts";
import { findingsOf } from "./findings.ts";

export type GitHubDeps = {
  /** Branches and commits. */
  readonly remote: Forge;
  readonly api: GitHubApi;
  /** Whether `commit` is part of the request's final head. */
  readonly isPartOf: (number: number, commit: string, head: string) => Promise<Result<boolean>>;
};

export function createGitHubForge({ remote, api, isPartOf }: GitHubDeps): Forge {
  return {
    ...remote,
    name: "github",
    propose,
    proposed: (work) => findProposed(api, work),
    withdraw: (request) => closeRequest(api, request),
    checkAccess: (needs) => checkLogin({ remote, api, isPartOf }, needs),
    look,
  };

  async function propose(work: Proposal): Promise<Result<PullRequest>> {
    for (const name of [work.branch, work.target]) {
      const checked = checkBranchName(name);
      if (!checked.ok) return checked;
    }
    const pushed = await remote.push(work);
    if (!pushed.ok) return pushed;
    const { branch, target, commit, title, body } = work;
    const open = await api.openPulls(branch, target);
    if (!open.ok) return open;
    const [found] = open.value;
    const request =
      found === undefined
        ? await api.createPull({ title, body, head: branch, base: target })
        : await api.updatePull(found.number, { title, body });
    if (!request.ok) return request;
    const { number, html_url: url } = request.value;
    return ok({ number, url, branch, target, commit });
  }

  async function look(request: PullRequest): Promise<Result<PullRequestState>> {
    if (request.number === null) return remote.look(request);
    const pull = await api.pull(request.number);
    if (!pull.ok) return pull;
    const { state, merged, head } = pull.value;
    if (merged === true) return afterMerge(request, pull.value);
    if (state === "closed")
      return ok({ state: "closed", reason: `pull request #${request.number} was closed without a merge` });
    const found = await findingsOf(api, request.number, head.sha);
    if (!found.ok || found.value.state !== "open" || found.value.note !== null || head.sha === request.commit)
      return found;
    return ok({ state: "open", note: `the pull request is at ${head.sha}; ${request.commit} was approved` });
  }

  async function afterMerge(request: PullRequest, pull: Pull): Promise<Result<PullRequestState>> {
    const { number, merge_commit_sha: commit, head, base } = pull;
    if (base.ref !== request.target)
      return ok({
        state: "closed",
        reason: `pull request #${number} was merged into ${base.ref.slice(0, 100)}, not into ${request.target}`,
      });
    if (commit == null)
      return err({ code: "forge_answer", message: `GitHub does not say what pull request #${number} was merged as.` });
    const reached = await remote.contains(request.target, commit);
    if (!reached.ok) return reached;
    if (!reached.value)
      return ok({
        state: "open",
        note: `GitHub says that #${number} is merged as ${commit}, but ${request.target} does not hold that commit`,
      });
    const whole = await remote.contains(request.target, request.commit);
    if (!whole.ok) return whole;
    // A squash makes a new commit: then the request's head counts.
    const part =
      whole.value || head.sha === request.commit ? ok(true) : await isPartOf(pull.number, request.commit, head.sha);
    if (!part.ok) return part;
    if (part.value) return ok({ state: "merged", commit });
    return ok({
      state: "closed",
      reason: `pull request #${number} was merged at ${head.sha}, which does not hold the approved commit ${request.commit}`,
    });
  }
}

async function findProposed(
  api: GitHubApi,
  { branch, target, commit }: Parameters<Forge["proposed"]>[0],
): Promise<Result<PullRequest | null>> {
  const open = await api.openPulls(branch, target);
  if (!open.ok) return open;
  const found = open.value.find(({ head }) => head.sha === commit);
  return ok(found === undefined ? null : { number: found.number, url: found.html_url, branch, target, commit });
}

async function closeRequest(api: GitHubApi, { number }: PullRequest): Promise<Result<null>> {
  if (number === null) return ok(null);
  const pull = await api.pull(number);
  if (!pull.ok || pull.value.state === "closed") return pull.ok ? ok(null) : pull;
  const closed = await api.closePull(number);
  return closed.ok ? ok(null) : closed;
}

/** A request needs the API as well; a plain push or merge does not. */
async function checkLogin({ api, remote }: GitHubDeps, needs: "push" | "propose"): Promise<Result<null>> {
  const known = needs === "push" ? ok({ permissions: undefined }) : await api.repository();
  if (!known.ok) return known;
  if (known.value.permissions?.push === false)
    return err({
      code: "forge_auth",
      message: "The login at GitHub may read the repository, but not write to it.",
      hint: "Use a token or a login that may write contents and pull requests: gh auth login, or GITHUB_TOKEN",
    });
  return remote.checkAccess(needs);
}
