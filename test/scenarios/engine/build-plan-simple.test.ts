// Source 002, simple flow: one agent builds and tests and is its own gate; a reviewer comes in only for open questions.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { APPROVED, each, handoffText, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, verdictsOf, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const ASKING = hands({ questions: ["Is the new wording final?"] });
const happy: Script = { "dev-test": [hands()], review: [APPROVED], "update-specs": [hands()] };

async function build(script: Script): Promise<Run> {
  const run = await bench.run("build-plan-simple", script);
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}
const verdicts = async (run: Run) => verdictsOf(await bench.events(run.id));

test("R-002-31: one agent, no DoD-checker, and no reviewer without open questions", async () => {
  const run = await build(happy);
  expect(await verdicts(run)).toEqual(["bundles:pass", "dev-test:n/a", "update-specs:n/a"]);
  expect(run).toMatchObject({ word: "merge question" });
  const prompt = readFileSync(join(bench.home, "runs", run.id, "dev-test-1", "prompt.md"), "utf8");
  expect(prompt).toContain("## Definition-of-Done gate");
  expect(prompt).toContain("Your handoff must contain: ## DoD coverage, ## Quality-Gate Results.");
});

test.each(["None", "n/a", "-", "- None", "none.", ""])("R-002-31: %j under Open Questions is none", async (text) => {
  const outcome = {
    via: "handoff-file",
    text: handoffText().replace("## Open Questions\n\nNone", `## Open Questions\n\n${text}`),
  };
  const run = await build({ ...happy, "dev-test": [outcome] });
  expect(run.stages["review"]).toBeUndefined();
  expect(run).toMatchObject({ word: "merge question" });
});

test("R-002-31, R-002-32: complete with an open question goes to the reviewer", async () => {
  const run = await build({ ...happy, "dev-test": [ASKING] });
  expect(await verdicts(run)).toEqual(["bundles:pass", "dev-test:n/a", "review:APPROVED", "update-specs:n/a"]);
});

test("R-002-31: there is one review at most; a request for changes is escalated at once", async () => {
  const run = await build({
    ...happy,
    "dev-test": [ASKING],
    review: [hands({ verdict: "REQUEST_CHANGES", findings: ["wrong"] })],
  });
  expect(run).toMatchObject({
    status: "waiting",
    word: "ESCALATED",
    stages: { review: { attempts: 1 }, "dev-test": { attempts: 1 } },
  });
  await bench.answer(run, "escalation", "accept-with-known-issues");
  expect(await bench.load(run.id)).toMatchObject({ word: "merge question" });
});

test("R-002-32: blocked with questions stops for the person; the reviewer is not asked instead", async () => {
  const blocked = hands({ status: "blocked", reason: "unclear", questions: ["Which text?"] });
  const run = await build({ ...happy, ...each("dev-test", blocked, hands()) });
  expect(run).toMatchObject({ status: "waiting", word: "blocked" });
  expect(openItems(run)).toMatchObject([{ kind: "question", questions: ["Which text?"] }]);
  expect(run.stages["review"]).toBeUndefined();
  await bench.answer(run, "question", "", "the second");
  expect(await verdicts(run)).toEqual(["bundles:pass", "dev-test:blocked", "dev-test:n/a", "update-specs:n/a"]);
});
