// What the crash tests run: which runs, with which agents. Agents are shell scripts that take a few milliseconds, so that the engine
// is what a random kill hits. Some commit, some pause, some leave a child in a session of its own.

import type { JsonObject } from "../../src/core/json.ts";
import { optional } from "../../src/core/optional.ts";
import { handoffText } from "../harness/handoff-text.ts";

/** What an agent does and says; the key of a script is its stage, or stage.loop. */
type Play = {
  readonly says?: JsonObject;
  readonly does?: string /** The handoff file that it leaves. */;
  readonly hands?: string;
};

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

export type Scenario = {
  readonly name: string;
  readonly slots: number;
  readonly runs: readonly RunPlan[];
  /** The project has a bare remote, in which the work of every run lands. */
  readonly remote?: true;
};

/** Beside the script of each run: its flow, as `resolve` gave it. */
export const FLOW_FILE = "flow.json";

const COMMIT =
  'echo "$PASSRAIL_STAGE $PASSRAIL_ATTEMPT" >> work.txt && git add work.txt && git commit -q -m "$PASSRAIL_STAGE" || exit 3\n';
// Its child leaves the session and holds no pipe: only the marker in its environment tells whose it is.
const ORPHAN = "if command -v setsid > /dev/null; then setsid sleep 300 < /dev/null > /dev/null 2>&1 & fi\n";
const nap = (ms: number): string => `sleep ${(ms / 1000).toFixed(3)}\n`;
/** Answers with the entry `passed` instead once the file is there. */
const passIf = (file: string, entry: string): string => `[ ! -e ${file} ] || entry="$1/${entry}"\n`;
/** A later review answers for the findings of the earlier one. */
const mended = (...ids: readonly string[]) => ids.map((id) => ({ id, state: "fixed", reason: "seen" }));
const write = (path: string, text: string): string => `mkdir -p .brain && echo '${text}' > ${path}\n`;
/** Signed with the nonce of its attempt, which the player finds in the prompt. */
const review = (word: string): string =>
  `mkdir -p .brain && printf 'Verdict: ${word}\\nNonce: %s\\n' "$nonce" > .brain/REVIEW.md\n`;

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
      qa: { says: { verdict: "SHIP", findings: mended("F1", "F2") }, does: nap(60) },
    },
  };
}

/** Uses up its revisions: the third REVISE escalates, and a person accepts. */
function escalating(runId: string): RunPlan {
  const plan = feature(runId);
  const says = { verdict: "REVISE", issues: ["never good enough"] };
  const qa = {
    "qa.1": { says: { ...says, findings: mended("F1", "F2") } },
    qa: { says: { ...says, findings: mended("F3") } },
  };
  return { ...plan, script: { ...plan.script, ...qa, spec: { says: { verdict: "APPROVED" }, does: ORPHAN } } };
}

const APPROVES = handoffText({ verdict: "APPROVED" });
const asksFor = (finding: string, blame?: string): string =>
  handoffText({ verdict: "REQUEST_CHANGES", findings: [finding], ...optional({ blame }) });

/** Two tracks at once; a review bounces inside one, the tester bounces the other. */
const complex: RunPlan = {
  runId: "rcomplex",
  flow: "build-plan-complex",
  workspace: "worktree",
  facts: { plan: { complexity: "complex", new_infra: false } },
  script: {
    // A judge in between closes the loop that the other judge counts, so the workspace has to tell whether it was fixed.
    "be-dev.0": { hands: handoffText(), does: `echo one > be-first\n${nap(60)}` },
    "be-dev": { hands: handoffText(), does: `echo yes > be-fixed\n${ORPHAN}` },
    "be-dod": { hands: APPROVES },
    "be-review": { hands: asksFor("name it better"), does: passIf("be-fixed", "be-passed") },
    "fe-dev.0": { hands: handoffText(), does: `echo one > fe-first\n${nap(100)}${ORPHAN}` },
    "fe-dev": { hands: handoffText(), does: "echo yes > fe-fixed\n" },
    "fe-dod": { hands: APPROVES },
    "fe-review": { hands: APPROVES },
    test: { hands: asksFor("the page is empty", "fe"), does: nap(50) + passIf("fe-fixed", "passed") },
    "be-passed": { hands: handoffText({ verdict: "APPROVED", findings: ["F1: fixed — seen"] }) },
    passed: { hands: handoffText({ verdict: "APPROVED", findings: ["F2: fixed — seen"] }) },
    "update-specs": { hands: handoffText(), does: COMMIT },
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
    "reviewer.0": { does: review("REVISE") + nap(60) },
    reviewer: { does: nap(40) + review("APPROVE") },
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

/** Passrail's own checks after two stages; the second one breaks them, and its commits are taken back. */
function checked(runId: string): RunPlan {
  const check = (...run: string[]): JsonObject => ({ run, timeoutMs: 60_000, env: [] });
  const says = { verdict: "approved" };
  return {
    runId,
    flow: "story",
    stages: ["implementer", "refactorer", "documenter"],
    workspace: "worktree",
    branch: `feat/story-F-${runId}`,
    facts: { config: { checks: { whole: check("/bin/sh", "-c", "[ ! -e broken.txt ]"), other: check("true") } } },
    script: {
      implementer: { says, does: COMMIT },
      refactorer: { says, does: `echo x > broken.txt\n${ORPHAN}` },
      documenter: { says, does: `[ ! -e broken.txt ] || exit 4\n${COMMIT}` },
    },
  };
}

/** Its agent says that it has started, and waits until it may go on. */
const held: RunPlan = {
  runId: "rheld",
  flow: "feature",
  stages: ["build"],
  workspace: "worktree",
  facts: {},
  script: {
    build: {
      says: { verdict: "COMPLETE" },
      does: `: > "$1/started"\nuntil [ -e "$1/go-on" ]; do sleep 0.05; done\n${COMMIT}`,
    },
  },
};

/** Lands one commit in the remote. */
function landing(runId: string): RunPlan {
  return {
    runId,
    flow: "ticket",
    stages: ["implement", "land"],
    workspace: "worktree",
    branch: `feat/${runId}`,
    facts: {
      ticket: { repo: "org/app", status: "Needs Implement", group: runId },
      config: { merge_mode: "merge" },
    },
    script: { implement: { does: `echo code > ${runId}.txt\n` } },
  };
}

/** Joined tracks whose work lands in the remote when the merge question is approved. The last commit carries the run's name. */
const delivered: RunPlan = {
  ...complex,
  runId: "rdelivered",
  script: {
    ...Object.fromEntries(
      ["be-dod", "be-review", "fe-dod", "fe-review", "test"].map((stage) => [stage, { hands: APPROVES }]),
    ),
    "be-dev": { hands: handoffText(), does: "echo be > be.txt\n" },
    "fe-dev": { hands: handoffText(), does: "echo fe > fe.txt\n" },
    "update-specs": { hands: handoffText(), does: "echo as built > rdelivered.txt\n" },
  },
};

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  feature: { name: "feature", slots: 3, runs: [feature("rfeature")] },
  complex: { name: "complex", slots: 3, runs: [complex] },
  delivered: { name: "delivered", slots: 3, remote: true, runs: [delivered] },
  routed: { name: "routed", slots: 3, runs: [routed] },
  staged: { name: "staged", slots: 2, runs: [staged("rstaged", "worktree")] },
  cloned: { name: "cloned", slots: 2, runs: [staged("rcloned", "clone")] },
  checked: { name: "checked", slots: 2, runs: [checked("rchecked")] },
  held: { name: "held", slots: 1, runs: [held] },
  many: { name: "many", slots: 50, runs: Array.from({ length: 50 }, (_, at) => ({ ...held, runId: `rmany${at}` })) },
  landing: {
    name: "landing",
    slots: 3,
    remote: true,
    runs: [landing("rfirst"), landing("rsecond"), landing("rthird")],
  },
  several: { name: "several", slots: 2, runs: [escalating("rescalating"), feature("rsecond"), routed] },
};
