// What the crash tests run: which runs, with which agents. Agents are shell scripts that take a few milliseconds, so that the engine
// is what a random kill hits. Some commit, some pause, some leave a child in a session of its own.

import type { JsonObject } from "../../src/core/json.ts";

/** What an agent does and says; the key of a script is its stage, or stage.loop. */
type Play = { readonly says?: JsonObject; readonly does?: string };

export type RunPlan = {
  readonly runId: string;
  readonly flow: string;
  /** Only these stages of the flow. */
  readonly stages?: readonly string[];
  readonly workspace: "in-place" | "worktree" | "clone";
  /** Where it is not the run's own. */
  readonly branch?: string;
  readonly facts: JsonObject;
  readonly script: Readonly<Record<string, Play>>;
};

export type Scenario = { readonly name: string; readonly slots: number; readonly runs: readonly RunPlan[] };

const COMMIT =
  'echo "$PASSRAIL_STAGE $PASSRAIL_ATTEMPT" >> work.txt && git add work.txt && git commit -q -m "$PASSRAIL_STAGE" || exit 3\n';
// Its child leaves the session and holds no pipe: only the marker in its environment tells whose it is.
const ORPHAN = "if command -v setsid > /dev/null; then setsid sleep 300 < /dev/null > /dev/null 2>&1 & fi\n";
const nap = (ms: number): string => `sleep ${(ms / 1000).toFixed(3)}\n`;
/** Answers with the entry `passed` instead once the file is there. */
const passIf = (file: string): string => `[ ! -e ${file} ] || entry="$1/passed"\n`;
const write = (path: string, text: string): string => `mkdir -p .brain && echo '${text}' > ${path}\n`;

/** One REVISE, both gates. */
function feature(runId: string): RunPlan {
  return {
    runId,
    flow: "feature",
    workspace: "worktree",
    facts: {},
    script: {
      spec: { says: { verdict: "APPROVED" }, does: nap(50) },
      design: { says: { verdict: "APPROVED" }, does: ORPHAN },
      build: { says: { verdict: "COMPLETE" }, does: COMMIT },
      "build.1": { says: { verdict: "COMPLETE" }, does: COMMIT + ORPHAN + nap(80) },
      "qa.0": { says: { verdict: "REVISE", issues: ["the first one", "the second one"] } },
      qa: { says: { verdict: "SHIP" }, does: nap(60) },
    },
  };
}

/** Uses up its revisions: the third REVISE escalates, and a person accepts. */
function escalating(runId: string): RunPlan {
  const plan = feature(runId);
  const says = { verdict: "REVISE", issues: ["never good enough"] };
  return { ...plan, script: { ...plan.script, qa: { says }, spec: { says: { verdict: "APPROVED" }, does: ORPHAN } } };
}

/** Two tracks at once; a review bounces inside one, the tester bounces the other. */
const complex: RunPlan = {
  runId: "rcomplex",
  flow: "build-plan-complex",
  workspace: "worktree",
  facts: { plan: { complexity: "complex", new_infra: false } },
  script: {
    // A judge in between closes the loop that the other judge counts, so the workspace has to tell whether it was fixed.
    "be-dev.0": { says: { verdict: "n/a" }, does: nap(60) },
    "be-dev": { says: { verdict: "n/a" }, does: `echo yes > be-fixed\n${ORPHAN}` },
    "be-dod": { says: { verdict: "APPROVED" } },
    "be-review": { says: { verdict: "REQUEST_CHANGES", issues: ["name it better"] }, does: passIf("be-fixed") },
    "fe-dev.0": { says: { verdict: "n/a" }, does: nap(100) + ORPHAN },
    "fe-dev": { says: { verdict: "n/a" }, does: "echo yes > fe-fixed\n" },
    "fe-dod": { says: { verdict: "APPROVED" } },
    "fe-review": { says: { verdict: "APPROVED" } },
    test: {
      says: { verdict: "BLOCKED", issues: ["the page is empty"], blame: ["fe"] },
      does: nap(50) + passIf("fe-fixed"),
    },
    passed: { says: { verdict: "APPROVED" } },
    "update-specs": { says: { verdict: "n/a" }, does: COMMIT },
  },
};

/** In the user's own folder; the reviewer's verdict is a file that the attempt before may have left. */
const routed: RunPlan = {
  runId: "rrouted",
  flow: "routed",
  workspace: "in-place",
  facts: {},
  script: {
    route: {
      says: {
        stages: [
          { agent: "scout", teams: false },
          { agent: "builder", teams: false },
          { agent: "reviewer", teams: false },
        ],
      },
    },
    scout: { says: { summary: "looked" }, does: write(".brain/RESEARCH.md", "found") + ORPHAN },
    builder: { says: { summary: "built" }, does: COMMIT + nap(60) },
    "reviewer.0": { does: write(".brain/REVIEW.md", "Verdict: REVISE") + nap(60) },
    reviewer: { does: nap(40) + write(".brain/REVIEW.md", "Verdict: APPROVE") },
  },
};

/** A workspace per stage; what is not committed is committed for the next stage, and a follow-up works where implement did. */
function staged(runId: string, workspace: "worktree" | "clone"): RunPlan {
  return {
    runId,
    flow: "ticket",
    stages: ["plan", "implement", "validate"],
    workspace,
    branch: `feat/${runId}`,
    facts: {
      ticket: { repo: "org/app", status: "Needs Plan", group: runId, terminal: false },
      config: { test_writer: true },
    },
    script: {
      plan: { does: `${COMMIT}${nap(30)}` },
      implement: { does: `echo code > code.txt\n${ORPHAN}${nap(40)}` },
      tests: { does: "[ -e code.txt ] || exit 4\necho test > a.test\n" },
      validate: { does: `[ -e work.txt ] && [ -e code.txt ] && [ -e a.test ] || exit 4\n${nap(40)}` },
    },
  };
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  feature: { name: "feature", slots: 3, runs: [feature("rfeature")] },
  complex: { name: "complex", slots: 3, runs: [complex] },
  routed: { name: "routed", slots: 3, runs: [routed] },
  staged: { name: "staged", slots: 2, runs: [staged("rstaged", "worktree")] },
  cloned: { name: "cloned", slots: 2, runs: [staged("rcloned", "clone")] },
  several: { name: "several", slots: 2, runs: [escalating("rescalating"), feature("rsecond"), routed] },
};
