import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CliError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { flowCheck } from "./check.ts";
import { flowTest } from "./flow-tests.ts";
import { flowGraph, flowList, flowSchema, flowShow } from "./flow.ts";
import { flowSimulate } from "./simulate.ts";

const NAMES = [
  "build-plan-complex",
  "build-plan-simple",
  "build-plan-standard",
  "checklist",
  "feature",
  "intake",
  "land",
  "quick",
  "routed",
  "story",
  "ticket",
];
const SMALL = `flow: small
version: 1
subject: task
counters:
  again: { max_loops: 1 }
stages:
  - { id: build, agent: builder }
  - id: check
    agent: reviewer
    route:
      revise: { goto: build, counter: again }
  - { id: ship, kind: gate }
`;
let cwd = "";

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "passrail-flow-"));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

function ioOf(options: Partial<Io> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    json: false,
    plain: false,
    quiet: false,
    color: false,
    tty: false,
    columns: 120,
    environment: {},
    cwd,
    home: join(cwd, "home"),
    ...options,
  };
  return { io, text: () => out.join("\n"), errors: () => err.join("\n"), lines: () => out };
}

function writeFlow(name: string, text: string): string {
  mkdirSync(join(cwd, ".passrail", "flows"), { recursive: true });
  const file = join(cwd, ".passrail", "flows", `${name}.yaml`);
  writeFileSync(file, text);
  return file;
}

function script(text: string): string {
  const file = join(cwd, "outcomes.json");
  writeFileSync(file, text);
  return file;
}

describe("flow list", () => {
  test("names all flows, those of the project among them", async () => {
    writeFlow("small", SMALL);
    const { io, lines } = ioOf({ quiet: true });
    expect(await flowList(io)).toBe(0);
    expect(lines()).toEqual([...NAMES, "small"].sort());
  });

  test("a flow with errors is listed with the command that tells them", async () => {
    writeFlow("small", SMALL.replace("goto: build", "goto: biuld"));
    const { io, text } = ioOf({ columns: 400 });
    expect(await flowList(io)).toBe(0);
    expect(text()).toContain("passrail flow check small");
  });
});

describe("flow show", () => {
  test("says the stages, their agents, status words, routes and counters", async () => {
    const { io, text } = ioOf();
    expect(await flowShow(io, "feature")).toBe(0);
    for (const part of [
      "1. start: gate, owner decides",
      "5. qa: agent IN6",
      'status "building" at work',
      "revise → build (counts revision; carries issues)",
      "revision: max 2 loops per run, then escalate",
      "REVISE = revise",
    ]) {
      expect(text()).toContain(part);
    }
  });

  test("with --json it is the resolved flow", async () => {
    const { io, text } = ioOf({ json: true });
    await flowShow(io, "feature");
    expect(JSON.parse(text())).toMatchObject({ name: "feature", counters: { revision: { maxLoops: 2 } } });
  });

  test("an unknown name is an error with the nearest name", async () => {
    const { io } = ioOf();
    const error = await flowShow(io, "featre").catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({
      code: "unknown_flow",
      exit: 1,
      hint: expect.stringContaining('"feature"') as string,
    });
  });
});

describe("flow check", () => {
  test("R-X-02: without a target every flow is checked; warnings do not fail", async () => {
    const { io, errors } = ioOf();
    expect(await flowCheck(io, [])).toBe(0);
    expect(errors()).toContain("11 flows checked: 0 errors");
  });

  test("R-X-02: a problem has its file, line, column, code, line, caret and hint", async () => {
    writeFlow("small", SMALL.replace("counter: again", "counter: agian"));
    const { io, text } = ioOf();
    expect(await flowCheck(io, ["small"])).toBe(1);
    const lines = text().split("\n");
    const at = lines.findIndex((line) => line.includes(".passrail/flows/small.yaml:11:30: error unknown_counter:"));
    expect(at).not.toBe(-1);
    expect(lines[at + 1]).toBe("        revise: { goto: build, counter: agian }");
    expect(lines[at + 2]).toBe(`  ${" ".repeat(29)}^`);
    expect(lines[at + 3]).toBe('  hint: did you mean "again"?');
  });

  test("a file anywhere is checked by its path, with the project's agents around it", async () => {
    writeFileSync(join(cwd, "my.yaml"), SMALL);
    const good = ioOf();
    expect(await flowCheck(good.io, ["my.yaml"])).toBe(0);
    writeFileSync(join(cwd, "my.yaml"), SMALL.replace("agent: builder", "agent: bilder"));
    const bad = ioOf({ json: true });
    expect(await flowCheck(bad.io, ["./my.yaml"])).toBe(1);
    expect(JSON.parse(bad.text())).toContainEqual(
      expect.objectContaining({ file: "my.yaml", line: 7, severity: "error", code: "unknown_agent" }),
    );
  });

  test("a file that is not there is an error, not a crash", async () => {
    const { io, text } = ioOf();
    expect(await flowCheck(io, ["none.yaml"])).toBe(1);
    expect(text()).toContain("flow_not_found");
  });

  test("a line that may hold a secret is not repeated", async () => {
    const secret = `sk-ant-api03-${"a1B2".repeat(12)}`;
    writeFileSync(join(cwd, "my.yaml"), SMALL.replace("subject: task", `subject: task\napi_key: ${secret}`));
    const { io, text } = ioOf();
    expect(await flowCheck(io, ["my.yaml"])).toBe(1);
    expect(text()).toContain("my.yaml:4:1: error");
    expect(text()).not.toContain(secret);
  });
});

describe("flow graph", () => {
  test("draws gates rounded, loops with their budget, people dotted", async () => {
    const { io, text } = ioOf();
    expect(await flowGraph(io, "feature")).toBe(0);
    expect(text().split("\n")[0]).toBe("flowchart TD");
    expect(text()).toContain('s_start("start<br/>owner decides")');
    expect(text()).toContain('s_qa -->|"revise (revision, max 2)"| s_build');
    expect(text()).toContain('s_ship -.->|"revise"| s_build');
  });

  test("draws tracks as subgraphs", async () => {
    const { io, text } = ioOf();
    await flowGraph(io, "build-plan-complex");
    expect(text()).toContain('subgraph s_tracks__be ["track be"]');
    expect(text().match(/subgraph /gu)).toHaveLength(3);
    expect(text().match(/^ +end$/gmu)).toHaveLength(3);
  });

  test.each(NAMES)("every node of an edge of %s is drawn", async (name) => {
    const { io, lines } = ioOf();
    await flowGraph(io, name);
    const text = lines().join("\n").split("\n");
    const edges = text.flatMap((line) => /^ {2}(\w+) -\.?->(?:\|.*\|)? (\w+)$/u.exec(line)?.slice(1) ?? []);
    const drawn = new Set(text.flatMap((line) => /^ +(?:subgraph )?(\w+) ?[([{]/u.exec(line)?.[1] ?? []));
    expect(edges.length).toBeGreaterThan(0);
    expect(edges.filter((node) => !drawn.has(node))).toEqual([]);
  });

  test("text of the flow cannot end a label", async () => {
    writeFlow("small", SMALL.replace("agent: builder }", `agent: builder, title: 'a"]; click x "b' }`));
    const { io, text } = ioOf();
    await flowGraph(io, "small");
    expect(text()).toContain('s_build["a#34;]; click x #34;b<br/>builder"]');
  });
});

test("flow schema is the JSON Schema of a flow file", async () => {
  const { io, text } = ioOf();
  expect(await flowSchema(io)).toBe(0);
  expect(JSON.parse(text())).toMatchObject({
    type: "object",
    required: expect.arrayContaining(["flow", "stages"]) as string[],
  });
});

describe("flow test", () => {
  const writeCases = (name: string, text: string): void => {
    mkdirSync(join(cwd, ".passrail", "flow-tests"), { recursive: true });
    writeFileSync(join(cwd, ".passrail", "flow-tests", `${name}.yaml`), text);
  };
  const SENT_BACK = `cases:
  - name: sent back once
    outcomes: [{ stage: build, verdict: pass }, { stage: check, verdict: revise }, { stage: build, verdict: pass }, { stage: check, verdict: pass }]
    expect: { state: waiting, waiting_for: gate, stage: ship, counters: { again: COUNT } }
`;

  test("a case passes where the run ends as expected, and fails with what is different", async () => {
    writeFlow("small", SMALL);
    writeCases("small", SENT_BACK.replace("COUNT", "1"));
    const passed = ioOf();
    expect(await flowTest(passed.io, [])).toBe(0);
    expect(passed.text()).toBe("✓ small: sent back once");
    writeCases("small", SENT_BACK.replace("COUNT", "0"));
    const failed = ioOf({ json: true });
    expect(await flowTest(failed.io, ["small"])).toBe(1);
    expect(JSON.parse(failed.text())).toMatchObject({
      failed: 1,
      cases: [{ flow: "small", problem: "counter again is 1, expected 0" }],
    });
    writeCases(
      "small",
      SENT_BACK.replace("stage: build, verdict: pass", "stage: check, verdict: pass").replace("COUNT", "1"),
    );
    expect(await flowTest(ioOf().io, ["small"])).toBe(1);
  });

  test.each([
    ["cases: []\n", "cases"],
    ["cases:\n  - { name: x, outcomes: [], expect: {} }\n", "at least one thing"],
    ["cases:\n  - { name: x, outcomes: [], expect: { stat: waiting } }\n", "stat"],
    ["cases: [\n", ":"],
  ])("a file that proves nothing or cannot be read is an error: %j", async (text, says) => {
    writeFlow("small", SMALL);
    writeCases("small", text);
    await expect(flowTest(ioOf().io, ["small"])).rejects.toMatchObject({
      code: "flow_tests_invalid",
      message: expect.stringContaining(says),
    });
  });

  test("without any file it says where to write one", async () => {
    await expect(flowTest(ioOf().io, [])).rejects.toMatchObject({ code: "flow_tests_missing" });
    await expect(flowTest(ioOf().io, ["../../etc/passwd"])).rejects.toMatchObject({ code: "flow_tests_missing" });
  });
});

describe("flow simulate", () => {
  const approve = '{"gate":"start","answer":"approve"}';

  test.each([
    ["a JSON list", `[${approve}]`],
    ["one object per line", `\n${approve}\n\n`],
    ["a list over several lines", `[\n  ${approve}\n]\n`],
  ])("R-X-02: the script may be %s", async (_, text) => {
    const { io, lines } = ioOf({ json: true });
    expect(await flowSimulate(io, "feature", { outcomes: script(text), input: [] })).toBe(0);
    expect(JSON.parse(lines().at(-1) ?? "")).toEqual({
      final: {
        state: "running",
        waitingFor: null,
        stage: "spec",
        status: "speccing",
        counters: { checks: 0, ci: 0, revision: 0 },
      },
    });
  });

  test("a review of the script may say what became of a finding; without a word about them all are fixed", async () => {
    const says = (more: object) => JSON.stringify({ stage: "qa", verdict: "REVISE", issues: ["x"], ...more });
    const built = ["spec", "design"].map((stage) => `{"stage":"${stage}","verdict":"APPROVED"}`);
    const build = '{"stage":"build","verdict":"COMPLETE"}';
    const before = [approve, ...built, build, says({}), build];
    const ends = async (second: string): Promise<unknown> => {
      const { io, lines } = ioOf({ json: true });
      await flowSimulate(io, "feature", { outcomes: script([...before, second].join("\n")), input: [] });
      return (JSON.parse(lines().at(-1) ?? "") as { final: { waitingFor: unknown } }).final.waitingFor;
    };
    expect(await ends(says({}))).toBe(null);
    expect(await ends(says({ findings: [{ id: "F9", state: "fixed" }] }))).toBe("escalation");
  });

  test("an outcome that does not fit is an error that names what is waited for; what came before is printed", async () => {
    const { io, lines } = ioOf({ json: true });
    const outcomes = script(`${approve}\n{"stage":"qa","verdict":"SHIP"}`);
    const error = await flowSimulate(io, "feature", { outcomes, input: [] }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "outcome_does_not_fit", exit: 1 });
    expect((error as CliError).message).toContain(
      "outcome 2: qa is not to run now; waited for: stage spec (attempt 1)",
    );
    expect((error as CliError).hint).toBe('for example {"stage":"spec","verdict":"APPROVED"}');
    expect(lines().map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(["run.requested", "gate"]);
  });

  test.each([
    [
      "a misspelt key",
      '[{"stage":"spec","verdct":"APPROVED"}]',
      'outcome 1: the key "verdct" is not known here',
      'did you mean "verdict"?',
    ],
    ["a missing answer", '[{"gate":"start"}]', 'outcome 1: "answer" is missing', "keys: gate, answer"],
    ["a wrong type", '[{"stage":"spec","issues":"x"}]', 'outcome 1: "issues" cannot be used', "keys: stage"],
    ["no subject", '[{"verdict":"SHIP"}]', "outcome 1: it names no stage", ""],
    ["text", '["x"]', "outcome 1: it is not an object", ""],
    ["a broken list", "[{]", "the list is not JSON", ""],
    ["a broken line", `${approve}\n{oops}`, "line 2 is not JSON", ""],
    ["an escalation without a choice", '[{"escalation":"qa"}]', 'outcome 1: an escalation needs "choice"', ""],
  ])("%s is refused by name", async (_, text, message, hint) => {
    const { io, lines } = ioOf({ json: true });
    const error = await flowSimulate(io, "feature", { outcomes: script(text), input: [] }).catch(
      (cause: unknown) => cause,
    );
    expect(error).toMatchObject({ code: "invalid_outcome", exit: 1 });
    expect((error as CliError).message).toContain(message);
    expect((error as CliError).hint).toContain(hint);
    expect(lines()).toEqual([]);
  });

  test("an input that the flow does not read is only a warning", async () => {
    const { io, errors } = ioOf();
    expect(
      await flowSimulate(io, "build-plan-standard", {
        outcomes: script("[]"),
        input: ["new_infra=true", "colour=red"],
      }),
    ).toBe(0);
    expect(errors()).toBe(
      "warning: the flow build-plan-standard does not read colour; it reads: plan.complexity, plan.new_infra, plan.spec, plan.plan, plan.task",
    );
  });

  test.each([
    ["complexity=complex", [expect.stringContaining("is for work where plan.complexity in [none, 'standard']")]],
    ["complexity=standard", []],
    ["new_infra=true", []],
  ])("choose: --input %s on build-plan-standard", async (input, warnings) => {
    const { io, errors } = ioOf();
    expect(await flowSimulate(io, "build-plan-standard", { outcomes: script("[]"), input: [input] })).toBe(0);
    expect(errors() === "" ? [] : [errors()]).toEqual(warnings);
  });

  test.each(["agent", "a b=1", "=1", "__proto__.x=1", "a..b=1"])("--input %s is a usage error", async (input) => {
    const { io } = ioOf();
    const error = await flowSimulate(io, "routed", { outcomes: script("[]"), input: [input] }).catch(
      (cause: unknown) => cause,
    );
    expect(error).toMatchObject({ code: "invalid_input", exit: 2 });
  });

  test("a missing file of outcomes is an error that says so", async () => {
    const { io } = ioOf();
    const error = await flowSimulate(io, "feature", { outcomes: "none.json", input: [] }).catch(
      (cause: unknown) => cause,
    );
    expect(error).toMatchObject({ code: "outcomes_unreadable", exit: 1 });
  });

  test("people read what was said, what it means and what comes next", async () => {
    const { io, text } = ioOf();
    await flowSimulate(io, "feature", {
      outcomes: script(`${approve}\n{"stage":"spec","verdict":"REJECT"}`),
      input: [],
    });
    expect(text()).toContain("spec attempt 1: REJECT = reject");
    expect(text()).toContain("status escalated → escalation spec (again, accept, cancel)");
    expect(text()).toContain("final: waiting for a person (escalation) at spec, status escalated, revision 0");
  });
});
