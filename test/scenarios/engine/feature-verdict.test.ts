// Source 000: which words of an agent count, through real processes. One stage between the two gates is enough to see that.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { openWorkbench, verdictsOf, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const specOnly = onlyStages("feature", ["start", "spec", "ship"]);
const qaOnly = onlyStages("feature", ["start", "build", "qa", "ship"]);
let features = 0;

type Played = { readonly run: Run; readonly events: readonly RunEvent[]; readonly dir: string };

/** Plays one feature as far as it gets without a second decision. */
async function play(entry: (id: string) => JsonObject, options: { facts?: JsonObject } = {}): Promise<Played> {
  const subject = `feature-${++features}`;
  const waiting = await bench.run(specOnly, { spec: [entry(subject)] }, { subject, ...options });
  await bench.answer(waiting, "gate", "approve");
  const run = await bench.load(waiting.id);
  return { run, events: await bench.events(run.id), dir: join(bench.home, "runs", run.id, "spec-1") };
}

const says = (text: string): JsonObject => ({ via: "text", text });
const verdict = (id: string, more: JsonObject = {}): JsonObject => ({
  verdict: "APPROVED",
  feature_id: id,
  agent: "IN1",
  ...more,
});
const warningsOf = (events: readonly RunEvent[]) => events.filter((event) => event.type === "warning.raised");
const finishedOf = ({ events }: Played) => {
  const finished = events.find((event) => event.type === "stage.finished");
  if (finished?.type !== "stage.finished") throw new Error("nothing finished");
  return finished.outcome;
};
const advanced = { status: "waiting", word: "review" };
const escalated = { status: "waiting", word: "escalated" };

describe("where the verdict stands", () => {
  const json = (id: string) => JSON.stringify(verdict(id), null, 2);
  test.each<[string, (id: string) => string]>([
    ["in a json fence", (id) => `I looked.\n\n\`\`\`json\n${json(id)}\n\`\`\`\n`],
    ["in a fence without a language", (id) => `I looked.\n\n\`\`\`\n${json(id)}\n\`\`\`\n`],
    ["bare", (id) => `I looked.\n${json(id)}\n`],
    ["bare on one line", (id) => JSON.stringify(verdict(id))],
    ["with text after it", (id) => `\`\`\`json\n${json(id)}\n\`\`\`\nThat is all, thank you. { not json }\n`],
    ["after other JSON without a verdict", (id) => `{"result": {"tests": 3}}\n[1, 2]\n${json(id)}`],
    [
      "twice, the last with more in it",
      (id) => `${json(id)}\n\n${JSON.stringify(verdict(id, { issues: ["a note"] }))}`,
    ],
  ])("R-000-01: %s it counts", async (_, text) => {
    const played = await play((id) => says(text(id)));
    expect(played.run).toMatchObject(advanced);
    expect(finishedOf(played)).toMatchObject({ health: "complete", verdict: "pass", word: "APPROVED" });
  });

  test("R-000-01: of two objects that agree the last is taken, with all its keys, and text after it is ignored", async () => {
    const path = "specs/handoffs/spec.md";
    const last = (id: string) =>
      verdict(id, {
        handoff_path: path,
        revision_loop: 0,
        issues: ["kept"],
        next_agent: "IN5",
        status_update: "designing",
      });
    const played = await play((id) => ({
      ...says(`${json(id)}\n\`\`\`json\n${JSON.stringify(last(id))}\n\`\`\`\nThat is all. {"note": 1}\n`),
      write: { [path]: "# spec" },
      commit: true,
    }));
    expect(played.run).toMatchObject(advanced);
    expect(finishedOf(played)).toMatchObject({
      word: "APPROVED",
      path,
      issues: ["kept"],
      claimed: { loop: 0, next: "IN5", status: "designing" },
    });
  });

  test("R-000-01: objects that contradict each other are not guessed between: the agent is asked, and its one answer counts", async () => {
    const both = (id: string) => `${json(id)}\n${JSON.stringify(verdict(id, { verdict: "REJECT" }))}`;
    const played = await play((id) => ({
      ...says(both(id)),
      repair: { via: "json-tail", verdict: "APPROVED", feature_id: id },
    }));
    expect(played.run).toMatchObject(advanced);
    expect(readFileSync(join(played.dir, "repair-prompt.md"), "utf8")).toContain(
      'verdicts that differ: "APPROVED" and "REJECT"',
    );
  });
});

describe("which words count", () => {
  test.each(["approved", "Approved", " APPROVED", "APPROVE", "OK", "pass", "SHIP", "COMPLETE", "REVISE", ""])(
    "R-000-02, R-000-03: %j from IN1 is unknown and advances nothing",
    async (word) => {
      const played = await play((id) => ({ via: "json-tail", verdict: word, feature_id: id }));
      expect(played.run).toMatchObject(escalated);
      expect(finishedOf(played)).toMatchObject({ health: "failed", cause: "verdict_unknown", word });
    },
  );

  test.each([
    ["design", "SHIP"],
    ["design", "REVISE"],
    ["build", "APPROVED"],
    ["build", "REVISE"],
    ["qa", "APPROVED"],
    ["qa", "COMPLETE"],
  ])("R-000-03: %s may not say %s", async (stage, word) => {
    const flow = onlyStages("feature", ["start", stage, "ship"].concat(stage === "qa" ? ["build"] : []));
    const script = {
      build: [{ via: "json-tail", verdict: "COMPLETE" }],
      [stage]: [{ via: "json-tail", verdict: word }],
    };
    const waiting = await bench.run(flow, script, { subject: `feature-${++features}` });
    await bench.answer(waiting, "gate", "approve");
    expect(await bench.load(waiting.id)).toMatchObject(escalated);
  });

  test("R-000-09: an unknown word is asked for once more, and the second answer counts", async () => {
    const played = await play(() => ({
      via: "json-tail",
      verdict: "LGTM",
      repair: { via: "json-tail", verdict: "APPROVED" },
    }));
    expect(played.run).toMatchObject(advanced);
    expect(readFileSync(join(played.dir, "repair-prompt.md"), "utf8")).toContain(
      '"LGTM" is not a verdict of this stage',
    );
    expect(warningsOf(played.events)).toMatchObject([{ code: "verdict_repaired" }]);
  });

  test("R-000-09: a refused verdict file does not hide what is said the second time", async () => {
    const played = await play(() => ({ verdict: "LGTM", repair: { via: "json-tail", verdict: "APPROVED" } }));
    expect(played.run).toMatchObject(advanced);
  });

  test.each<[string, (id: string) => string, string]>([
    ["no JSON at all", () => "I think it is fine.", "verdict_missing"],
    ["malformed JSON", (id) => `{"verdict": "APPROVED", "feature_id": "${id}", "agent": "IN1",`, "verdict_"],
    ["a trailing comma", (id) => `{"verdict": "APPROVED", "feature_id": "${id}", "agent": "IN1",}`, "verdict_"],
    [
      "a verdict that is no string",
      (id) => `{"verdict": true, "feature_id": "${id}", "agent": "IN1"}`,
      "verdict_unknown",
    ],
    ["nothing", () => "", "verdict_missing"],
    [
      "two verdicts that differ",
      (id) => `${JSON.stringify(verdict(id))}\n${JSON.stringify(verdict(id, { verdict: "REJECT" }))}`,
      "verdict_ambiguous",
    ],
  ])("R-000-09, R-X-03: %s is asked for once more, then escalated with the raw tail", async (_, text, cause) => {
    let said = "";
    const played = await play((id) => {
      said = text(id);
      return says(said);
    });
    expect(played.run).toMatchObject(escalated);
    const outcome = finishedOf(played);
    expect(outcome).toMatchObject({ health: "failed", summary: said });
    expect(outcome.cause).toContain(cause);
    expect(readFileSync(join(played.dir, "repair-prompt.md"), "utf8")).toContain("not accepted");
    expect(played.run.stages["spec"]).toMatchObject({ attempts: 1 });
    expect(played.events.some((event) => event.type === "counter.changed")).toBe(false);
  });

  test("R-000-09: the repair round can be switched off", async () => {
    const played = await play(() => says("fine"), { facts: { config: { verdict_repair: false } } });
    expect(played.run).toMatchObject(escalated);
    expect(() => readFileSync(join(played.dir, "repair-prompt.md"))).toThrow(/ENOENT/u);
  });

  test("R-X-03: a verdict before a failing exit is none", async () => {
    const failing = await play((id) => ({ via: "json-tail", verdict: "APPROVED", feature_id: id, exit: 3 }));
    expect(failing.run).toMatchObject(escalated);
    expect(finishedOf(failing)).toMatchObject({ health: "failed", cause: "agent_exit_nonzero" });
  });
});

describe("whose verdict it is", () => {
  test.each<[string, JsonObject]>([
    ["another agent", { agent: "IN6" }],
    ["another feature", { feature_id: "feature-of-somebody-else" }],
    ["another attempt's nonce", { nonce: "0123456789abcdef" }],
  ])("R-000-04: %s makes the result invalid", async (_, more) => {
    const played = await play((id) => says(JSON.stringify(verdict(id, more))));
    expect(played.run).toMatchObject(escalated);
    expect(finishedOf(played)).toMatchObject({ health: "failed", cause: "verdict_wrong_subject" });
  });

  test("R-000-01, R-000-04: a verdict that names no agent counts as the last word, and not as one among others", async () => {
    const short = (id: string) => JSON.stringify({ verdict: "APPROVED", feature_id: id });
    expect((await play((id) => says(`${short(id)}\nThat was in a file.`))).run).toMatchObject(escalated);
    expect((await play((id) => says(short(id)))).run).toMatchObject(advanced);
  });

  test("R-000-04: the same holds for the verdict file", async () => {
    const played = await play((id) => ({ verdict: "APPROVED", feature_id: id, agent: "IN6" }));
    expect(played.run).toMatchObject(escalated);
    expect(finishedOf(played)).toMatchObject({ cause: "verdict_wrong_subject" });
  });
});

describe("the handoff document", () => {
  test("R-000-05: a path inside the workspace is stored", async () => {
    const path = "specs/handoffs/spec.md";
    const played = await play(() => ({
      via: "json-tail",
      verdict: "APPROVED",
      handoff_path: `/${path}`,
      write: { [path]: "# spec" },
      commit: true,
    }));
    expect(played.run).toMatchObject(advanced);
    expect(finishedOf(played)).toMatchObject({ path });
    expect(warningsOf(played.events)).toEqual([]);
  });

  test("R-000-05: a missing file is reported on the stage", async () => {
    const played = await play(() => ({
      via: "json-tail",
      verdict: "APPROVED",
      handoff_path: "specs/handoffs/none.md",
    }));
    expect(played.run).toMatchObject(advanced);
    expect(warningsOf(played.events)).toMatchObject([
      { stage: "spec", code: "handoff_file_missing", message: expect.stringContaining("none.md") },
    ]);
  });

  test.each(["../outside.md", "/../../etc/passwd", "specs/../../outside.md", "~/x.md"])(
    "R-000-05: %j is refused",
    async (path) => {
      const played = await play(() => ({ via: "json-tail", verdict: "APPROVED", handoff_path: path }));
      expect(played.run).toMatchObject(escalated);
      expect(finishedOf(played)).toMatchObject({ health: "failed" });
      expect(finishedOf(played)).not.toHaveProperty("path");
    },
  );

  test("R-000-05: a link that leads out of the workspace is refused", async () => {
    const outside = join(bench.dir, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "handoff.md"), "not ours");
    symlinkSync(outside, join(bench.project, "linked"));
    const flow = onlyStages("feature", ["start", "spec", "ship"]);
    const script = { spec: [{ via: "json-tail", verdict: "APPROVED", handoff_path: "linked/handoff.md" }] };
    const waiting = await bench.run(flow, script, {
      subject: `feature-${++features}`,
      facts: { config: { workspace: "in-place" } },
    });
    await bench.answer(waiting, "gate", "approve");
    expect(await bench.load(waiting.id)).toMatchObject(escalated);
    const finished = (await bench.events(waiting.id)).find((event) => event.type === "stage.finished");
    expect(finished).toMatchObject({ outcome: { cause: "worktree_tampered" } });
  });
});

describe("what the engine decides by itself", () => {
  test.each<[string, JsonObject, string]>([
    ["revision_loop", { revision_loop: 7 }, "loop 7, it is 0"],
    ["status_update", { status_update: "building" }, "status building, it is review"],
  ])("R-000-06: a wrong %s is a warning and changes nothing", async (_, claim, message) => {
    const played = await play(() => ({ via: "json-tail", verdict: "APPROVED", ...claim }));
    expect(played.run).toMatchObject({ ...advanced, counters: {} });
    expect(warningsOf(played.events)).toMatchObject([
      { code: "claim_ignored", message: expect.stringContaining(message) },
    ]);
  });

  test("R-000-06: a wrong next_agent is a warning, the route of the flow is taken", async () => {
    const flow = onlyStages("feature", ["start", "spec", "design", "ship"]);
    const claim = {
      via: "json-tail",
      verdict: "APPROVED",
      next_agent: "IN6",
      status_update: "designing",
      revision_loop: 0,
    };
    const waiting = await bench.run(
      flow,
      { spec: [claim], design: [{ via: "json-tail", verdict: "APPROVED" }] },
      { subject: `feature-${++features}` },
    );
    await bench.answer(waiting, "gate", "approve");
    const events = await bench.events(waiting.id);
    expect(verdictsOf(events)).toEqual(["spec:APPROVED", "design:APPROVED"]);
    expect(warningsOf(events)).toMatchObject([
      { stage: "spec", code: "claim_ignored", message: "spec claims next agent IN6, it is IN5" },
    ]);
  });

  test("R-000-06: what is right, or not of the right type, is no reason to fail", async () => {
    const played = await play(() => ({
      via: "json-tail",
      verdict: "APPROVED",
      revision_loop: 0,
      status_update: "review",
      next_agent: 5,
    }));
    expect(played.run).toMatchObject(advanced);
    expect(warningsOf(played.events)).toMatchObject([
      { message: expect.stringContaining('"next_agent" is not a short string') },
    ]);
  });
});

describe("issues", () => {
  async function revise(qa: JsonObject) {
    const script = {
      build: [{ via: "json-tail", verdict: "COMPLETE" }],
      qa: [qa, { via: "json-tail", verdict: "SHIP" }],
    };
    const waiting = await bench.run(qaOnly, script, { subject: `feature-${++features}` });
    await bench.answer(waiting, "gate", "approve");
    const run = await bench.load(waiting.id);
    const prompt = readFileSync(join(bench.home, "runs", run.id, "build-2", "prompt.md"), "utf8");
    return { run, prompt, events: await bench.events(run.id) };
  }

  test("R-000-07, R-000-08: strings and objects reach the build prompt as they are and in order", async () => {
    const issues = [
      "b comes first",
      { severity: "critical", description: "it `crashes` on $& and {{X}}", file: "src/a.ts", line: 12 },
      "a comes last",
    ];
    const { run, prompt } = await revise({ via: "json-tail", verdict: "REVISE", issues });
    expect(run).toMatchObject({ ...advanced, counters: { revision: { loops: 1 } } });
    expect(prompt).toContain(
      "- b comes first\n- [critical] it `crashes` on $& and {{X}} (src/a.ts:12)\n- a comes last",
    );
  });

  test("R-000-07: REVISE without issues is accepted, flagged, and what was said is carried instead", async () => {
    const said = "The login page is blank after the second click.";
    const text = `${said}\n\n${JSON.stringify({ verdict: "REVISE", agent: "IN6", issues: [], nonce: "$NONCE" })}`;
    const { run, prompt, events } = await revise(says(text));
    expect(run).toMatchObject({ ...advanced, counters: { revision: { loops: 1 } } });
    expect(warningsOf(events)).toMatchObject([{ stage: "qa", code: "issues_empty" }]);
    expect(prompt).toContain(said);
  });

  test.each([
    [{ text: "no description" }, true],
    [{ severity: "major" }, false],
    [7, false],
    [null, false],
  ])("R-000-08: an issue %j is read: %s", async (issue, readable) => {
    const script = {
      build: [{ via: "json-tail", verdict: "COMPLETE" }],
      qa: [
        { via: "json-tail", verdict: "REVISE", issues: [issue] },
        { via: "json-tail", verdict: "SHIP" },
      ],
    };
    const waiting = await bench.run(qaOnly, script, { subject: `feature-${++features}` });
    await bench.answer(waiting, "gate", "approve");
    expect(await bench.load(waiting.id)).toMatchObject(readable ? advanced : escalated);
  });
});
