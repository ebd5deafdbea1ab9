// How much of a prompt stays the same between two attempts of one role in one run: vendors' caches reuse only a common beginning.

import { composePrompt, type PromptFacts } from "../src/core/prompt/prompt.ts";
import { evolve } from "../src/core/run/evolve.ts";
import type { WorkStage } from "../src/core/flow/flow.ts";
import type { Carry, Run } from "../src/core/run/run.ts";
import { isWork } from "../src/core/run/sequence.ts";
import { resolveShipped } from "../test/harness/workbench.ts";
import { SHIPPED } from "../test/harness/shipped.ts";
import type { Row } from "./measure.ts";

/** Deps that describe earlier work; the text before them must not depend on the attempt. */
const HANDOFF_PARTS: ReadonlySet<string> = new Set(["handoffs", "previous-handoff"]);

export function measurePrompts(): readonly Row[] {
  const shares = SHIPPED.flatMap((name) => sharesOf(name));
  const worst = shares.toSorted((a, b) => a.share - b.share)[0];
  return [
    {
      name: "prompt that a second attempt repeats",
      value: worst === undefined ? undefined : worst.share * 100,
      unit: "%",
      limit: { is: "at least", value: 95 },
      note: worst === undefined ? "nothing to compare" : `the worst of ${shares.length} roles: ${worst.role}`,
    },
  ];
}

function sharesOf(flowName: (typeof SHIPPED)[number]): readonly { role: string; share: number }[] {
  const resolved = resolveShipped(flowName);
  const context = { resolved, run: newRun(flowName), track: "main" };
  const works = resolved.flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap(({ stages }) => stages);
    if (stage.kind === "dynamic") return Object.values(stage.templates);
    return isWork(stage) ? [stage] : [];
  });
  return works.flatMap((stage) => {
    if (stage.kind !== "agent") return [];
    const names = stage.promptFile === undefined ? stage.prompt : ["agent", "prompt-file", "handoffs"];
    const cut = names.findIndex((name) => HANDOFF_PARTS.has(name));
    const before = { ...stage, prompt: names.slice(0, cut < 0 ? names.length : cut) };
    const { promptFile, ...noFile } = before;
    const head = composePrompt({
      ...context,
      stage: promptFile === undefined ? before : { ...noFile, promptFile },
      carry: FIRST,
      facts: facts(1),
    });
    const first = composePrompt({ ...context, stage, carry: FIRST, facts: facts(1) });
    const second = composePrompt({ ...context, stage, carry: BACK, facts: facts(2) });
    const length = Math.min(
      promptFile === undefined ? head.trimEnd().length : first.indexOf("## Handoff from"),
      first.length,
      second.length,
    );
    if (length <= 0) return [];
    return [{ role: `${flowName}/${stage.id}`, share: Math.min(1, commonPrefix(first, second) / length) }];
  });
}

function commonPrefix(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

const FIRST: Carry = {
  from: "spec",
  reason: "next",
  names: [],
  issues: [],
  questions: [],
  loop: 0,
  loopMax: null,
  handoff: 1,
};
const BACK: Carry = { ...FIRST, from: "qa", reason: "sent-back", issues: ["It does not add up."], loop: 1, loopMax: 2 };

function facts(attempt: number): PromptFacts {
  return {
    token: "t",
    nonce: `nonce-of-attempt-${attempt}`,
    verdictFile: `/state/run/stage-${attempt}/result/verdict.json`,
    handoffFile: `/state/run/stage-${attempt}/result/handoff.md`,
    url: "",
    branch: "feat/x",
    earlier: [
      { stage: "spec", agent: "IN1", attempt, word: "APPROVED", summary: `said in attempt ${attempt}`, path: null },
    ],
    answers: [],
    trust: [],
    files: { "dev-bundle.md": "Rules of the house.", "tester-bundle.md": "Rules of the testers." },
    diffRange: `abc${attempt}..HEAD`,
    attempt,
    history: { base: null, since: null, own: [] },
    submits: true,
  };
}

function newRun(flow: string): Run {
  return evolve(undefined, {
    type: "run.created",
    id: "r1",
    flow,
    flowHash: "",
    subject: { id: "F-1", title: "Export the report as CSV", body: "One row per booking.\n".repeat(40) },
    facts: {},
    word: "queued",
    at: "2026-01-01T00:00:00.000Z",
    actor: "human:owner",
  });
}
