// The runs of the chaos on several machines: shipped flows with agents that take a few milliseconds, and how each must end.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../harness/build-once.ts";
import { SCENARIOS } from "../../crash/scenarios.ts";

export type ChaosPlan = {
  readonly id: string;
  readonly words: readonly string[];
  /** How often each stage finishes. */
  readonly finishes: Readonly<Record<string, number>>;
};

const NAP_S = 1;
/** As-built notes that say something new; a build with a spec is not done without. */
const NOTED = `sed -i 's/^None$/As planned by '"$PASSRAIL_STAGE"'/' docs/spec.md && git add docs/spec.md\n`;
const PLAYER = join(ROOT, "test/fixtures/player/play.sh");

const KINDS: readonly {
  readonly scenario: string;
  readonly flow: string;
  readonly words: readonly string[];
  readonly finishes: Readonly<Record<string, number>>;
}[] = [
  { scenario: "feature", flow: "feature", words: [], finishes: { spec: 1, design: 1, build: 2, qa: 2 } },
  {
    scenario: "complex",
    flow: "build-plan-complex",
    words: [
      "--input",
      "plan.spec=docs/spec.md",
      "--input",
      "plan.plan=docs/plan.md",
      "--input",
      "plan.task=docs/task.md",
    ],
    finishes: { "be-dev": 2, "fe-dev": 2, test: 2, "update-specs": 1 },
  },
  {
    scenario: "staged",
    flow: "ticket",
    words: [
      "--input",
      "ticket.status=Needs Plan",
      "--input",
      "config.test_writer=true",
      "--input",
      "ticket.terminal=false",
    ],
    finishes: { plan: 1, implement: 1, tests: 1, validate: 1 },
  },
];

/** Mostly the short ones; the first three are one of each. */
export function plansOf(dir: string, count: number, random: () => number): readonly ChaosPlan[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = KINDS[at < KINDS.length ? at : Math.floor(random() * KINDS.length)] ?? KINDS[0];
    const plan = SCENARIOS[kind?.scenario ?? ""]?.runs[0];
    if (kind === undefined || plan === undefined) throw new Error("there is no such scenario");
    const id = `C-${at + 1}`;
    const folder = join(dir, "script", id);
    mkdirSync(folder, { recursive: true });
    for (const [key, { says, does = "", hands }] of Object.entries(plan.script)) {
      if (hands !== undefined) writeFileSync(join(folder, `${key}.md`), hands);
      if (says !== undefined) writeFileSync(join(folder, `${key}.json`), JSON.stringify(says));
      // Long enough that a death often meets an agent at work.
      const nap = `sleep ${(random() * NAP_S).toFixed(2)}\n`;
      writeFileSync(join(folder, `${key}.sh`), `${nap}${key === "update-specs" ? NOTED : ""}${does}`);
    }
    const words = ["run", kind.flow, `Do ${id}`, "--id", id, "--workspace", "worktree", ...kind.words];
    const agent = ["--agent", `*=/bin/sh ${PLAYER} ${folder}`];
    return { id, words: [...words, ...agent, "--detach", "--idempotency-key", id], finishes: kind.finishes };
  });
}
