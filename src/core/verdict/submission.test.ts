import { describe, expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { Flow, WorkStage } from "../flow/flow.ts";
import { judge } from "./judge.ts";
import type { Json, JsonObject } from "../json.ts";
import { routeKey } from "../flow/outcome.ts";
import { gateTrust } from "../run/trust.ts";
import { isWork } from "../run/sequence.ts";
import { schemaFaults, unknownKeyword } from "./fits-schema.ts";
import { isList, isObject } from "./report-fields.ts";
import { nativeSchema, readSubmission, submissionSchema } from "./submission.ts";

const NAMES = [
  "build-plan-complex",
  "build-plan-simple",
  "build-plan-standard",
  "feature",
  "intake",
  "routed",
  "story",
  "ticket",
] as const;
const AGENTS = ["builder", "reviewer"];
const feature = shippedFlow("feature");
const complex = shippedFlow("build-plan-complex");

function worksOf(flow: Flow): readonly WorkStage[] {
  return flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap((track) => track.stages);
    if (stage.kind === "dynamic") return Object.values(stage.templates);
    return isWork(stage) ? [stage] : [];
  });
}

function stageOf(flow: Flow, id: string): WorkStage {
  const stage = worksOf(flow).find((each) => each.id === id);
  if (stage === undefined) throw new Error(`no stage ${id}`);
  return stage;
}

const all = NAMES.map(shippedFlow).flatMap((flow) =>
  worksOf(flow).map((stage) => [flow.name, stage.id, flow, stage] as const),
);
const qa = stageOf(feature, "qa");
const read = (value: object, flow = feature, stage = qa) => readSubmission(JSON.stringify(value), flow, stage, AGENTS);
const messageOf = (value: object, flow = feature, stage = qa) => {
  const reading = read(value, flow, stage);
  return reading.ok ? "ok" : reading.error.message;
};

/** Every schema inside a schema, itself included. */
function within(schema: JsonObject): readonly JsonObject[] {
  const { properties, items, anyOf } = schema;
  const inner = [...Object.values(isObject(properties) ? properties : {}), items, ...(isList(anyOf) ? anyOf : [])];
  return [schema, ...inner.filter(isObject).flatMap(within)];
}

describe("the shape", () => {
  test.each(all)("%s, %s: only what every vendor takes, and every key explained", (_name, _id, flow, stage) => {
    const schema = submissionSchema(flow, stage, AGENTS);
    expect(schema).toMatchObject({ type: "object", additionalProperties: false, required: ["summary"] });
    expect(unknownKeyword(schema)).toBeUndefined();
    for (const each of within(schema)) {
      if (each["type"] !== "object") continue;
      expect(Object.keys(each["properties"] ?? {})).not.toHaveLength(0);
      expect(each["additionalProperties"]).toBe(false);
    }
    for (const field of Object.values(schema["properties"] ?? {})) expect(field).toHaveProperty("description");
    for (const each of within(schema)) if (each["enum"] !== undefined) expect(each["enum"]).not.toHaveLength(0);
  });

  test.each(all)(
    "%s, %s: for structured output every key is required, and null stands for what is not given",
    (_name, _id, flow, stage) => {
      const schema = nativeSchema(flow, stage, AGENTS);
      for (const each of within(schema)) {
        if (each["type"] !== "object") continue;
        expect(each["required"]).toEqual(Object.keys(each["properties"] ?? {}));
        expect(each["additionalProperties"]).toBe(false);
      }
      const empty = Object.fromEntries((schema["required"] as readonly string[]).map((key) => [key, null]));
      const said = { ...empty, summary: "s", health: "failed", reason: "r" };
      expect(schemaFaults(schema, said)).toEqual([]);
      expect(read(said, flow, stage)).toEqual({
        ok: true,
        value: { summary: "s", health: "failed", reason: "r", structured: true },
      });
    },
  );

  test("R-000-03: a stage is offered its own words and no others", () => {
    const words = (id: string) => {
      const { properties } = submissionSchema(feature, stageOf(feature, id), []) as {
        properties: Record<string, JsonObject>;
      };
      return properties["verdict"]?.["enum"];
    };
    expect(words("qa")).toEqual(["SHIP", "REVISE", "REJECT"]);
    expect(words("build")).toEqual(["COMPLETE", "REJECT"]);
  });

  test("fields that a flow has no use for are not offered", () => {
    const keys = (flow: Flow, id: string) =>
      Object.keys(submissionSchema(flow, stageOf(flow, id), AGENTS)["properties"] ?? {});
    expect(keys(feature, "qa")).not.toContain("score");
    expect(keys(feature, "qa")).not.toContain("payload");
    expect(keys(feature, "qa")).not.toContain("blame");
    expect(keys(complex, "test")).toContain("blame");
    expect(keys(complex, "be-review")).not.toContain("blame");
    expect(keys(shippedFlow("ticket"), "implement")).not.toContain("verdict");
    expect(keys(shippedFlow("routed"), "route")).toEqual([
      "stages",
      "health",
      "summary",
      "reason",
      "questions",
      "nonce",
    ]);
  });
});

describe("S07: the nonce", () => {
  const qa = stageOf(feature, "qa");
  const given = { verdict: "SHIP", summary: "fine" };
  const withNonce = (more: object) =>
    readSubmission(JSON.stringify({ ...given, ...more }), feature, qa, AGENTS, { nonce: "n0nce", required: true });

  test("is required where the stage requires it, and must be this attempt's", () => {
    expect(withNonce({})).toMatchObject({ ok: false, error: { message: expect.stringContaining("nonce") } });
    expect(withNonce({ nonce: null })).toMatchObject({ ok: false });
    expect(withNonce({ nonce: "other" })).toMatchObject({ ok: false, error: { code: "verdict_stale" } });
    expect(withNonce({ nonce: "n0nce" })).toMatchObject({ ok: true, value: { verdict: "SHIP" } });
  });
});

describe("what is read", () => {
  test("every field arrives in the report, with null as not given", () => {
    const given = {
      verdict: "REVISE",
      health: null,
      summary: "read the diff",
      reason: null,
      issues: [
        { severity: "major", description: "no tests", file: "src/a.ts", line: 3 },
        { description: "b", line: null },
      ],
      questions: null,
      handoff_path: "specs/handoffs/qa.md",
      next_agent: "IN2",
      status_update: "building",
    };
    expect(read(given)).toEqual({
      ok: true,
      value: {
        verdict: "REVISE",
        summary: "read the diff",
        issues: [{ severity: "major", description: "no tests", file: "src/a.ts", line: 3 }, { description: "b" }],
        path: "specs/handoffs/qa.md",
        claimed: { next: "IN2", status: "building" },
        structured: true,
      },
    });
  });

  test("R-000-06: next agent and status stay claims, whatever they say", () => {
    const reading = read({ verdict: "REJECT", summary: "s", next_agent: "ship", status_update: "shipped" });
    expect(reading.ok && routeKey(judge(feature.words, qa, reading.value))).toBe("reject");
  });

  test("R-001-24: word and score are judged together", () => {
    const routed = shippedFlow("routed");
    const reviewer = worksOf(routed).find((stage) => stage.result.from === "file-verdict");
    if (reviewer === undefined) throw new Error("no reviewer");
    const reading = read({ verdict: "APPROVE", score: 4, summary: "s" }, routed, reviewer);
    expect(reading.ok && judge(routed.words, reviewer, reading.value).verdict).toBe("redesign");
  });

  test("R-002-54: a gate is clean by the tool's own line and exit code, not because it is called passed", () => {
    const dev = stageOf(complex, "be-dev");
    const trusted = (gate: object) => {
      const reading = read({ summary: "s", gates: [gate] }, complex, dev);
      if (!reading.ok) throw new Error(reading.error.message);
      const outcome = judge(complex.words, dev, reading.value) as unknown as JsonObject;
      const done = [{ stage: "be-dev", attempt: 1, status: "done", outcome }] as const;
      return gateTrust(complex, done).find(({ stage }) => stage === "be-dev")?.trusted;
    };
    const gate = { name: "lint", passed: true, command: "npm run lint", exit_code: 0, evidence: "Found 0 errors" };
    expect(trusted(gate)).toBe(true);
    expect(trusted({ ...gate, exit_code: null, command: null })).toBe(true);
    expect(trusted({ ...gate, exit_code: 1 })).toBe(false);
    expect(trusted({ ...gate, passed: false })).toBe(false);
    expect(trusted({ ...gate, evidence: "Found 3 errors" })).toBe(false);
    expect(trusted({ ...gate, evidence: "looks good to me" })).toBe(false);
  });

  test("rows of the DoD have the same form as in a handoff file", () => {
    const dod = [
      { criterion: "Button is green", met: true, evidence: "src/a.css:3" },
      { criterion: "Docs", met: false },
    ];
    expect(read({ verdict: "REJECT", summary: "s", dod })).toMatchObject({
      value: {
        payload: {
          dod: [
            { mark: "✓", row: "Button is green", evidence: "src/a.css:3" },
            { mark: "✗", row: "Docs", evidence: "" },
          ],
          dod_counts: { met: 1, missing: 1, tester: 0, other: 0 },
        },
      },
    });
  });

  test("R-003: the payload holds the stage's keys; one that is null is missing, another one is refused", () => {
    const story = shippedFlow("story");
    const stage = worksOf(story).find(({ payload }) => payload.includes("plan"));
    if (stage === undefined) throw new Error("no analyst");
    const given = { verdict: "approved", summary: "s", payload: { plan: "x", files_to_modify: ["a.ts"], risks: null } };
    expect(read(given, story, stage)).toMatchObject({ value: { payload: { plan: "x", files_to_modify: ["a.ts"] } } });
    const reading = read(given, story, stage);
    expect(reading.ok && Object.keys(reading.value.payload ?? {})).toEqual(["plan", "files_to_modify"]);
    for (const payload of [{ gates: [] }, { plan: { deep: 1 } }, { plan: [1] }])
      expect(messageOf({ ...given, payload }, story, stage)).toContain('"payload.');
  });

  test("R-004-12: tickets can be submitted as text", () => {
    const intake = shippedFlow("intake");
    const [stage] = worksOf(intake);
    if (stage === undefined) throw new Error("no stage");
    const reading = read({ verdict: "TICKETS", summary: "s", payload: { text: "- title: x" } }, intake, stage);
    expect(reading).toMatchObject({ ok: true, value: { payload: { text: "- title: x" } } });
    expect(reading.ok && judge(intake.words, stage, reading.value)).toMatchObject({
      health: "complete",
      verdict: "pass",
    });
  });

  test("R-001-02: a router's list names agents that exist", () => {
    const routed = shippedFlow("routed");
    const router = stageOf(routed, "route");
    const given = { summary: "s", stages: [{ agent: "builder" }, { agent: "reviewer", teams: true }] };
    expect(read(given, routed, router)).toMatchObject({
      value: {
        stages: [
          { agent: "builder", teams: false },
          { agent: "reviewer", teams: true },
        ],
      },
    });
    expect(messageOf({ summary: "s", stages: [{ agent: "root" }] }, routed, router)).toContain(
      '"stages[0].agent" must be exactly one of "builder", "reviewer", not "root".',
    );
    expect(messageOf({ summary: "s" }, routed, router)).toContain('"stages" is missing');
    expect(messageOf({ summary: "s", stages: [] }, routed, router)).toContain("empty");
  });
});

describe("what is refused", () => {
  test.each<[string, object, string]>([
    ["no verdict", { summary: "s" }, '"verdict" is missing: give exactly one of SHIP, REVISE, REJECT, or "health"'],
    [
      "another role's word",
      { verdict: "APPROVED", summary: "s" },
      'exactly one of "SHIP", "REVISE", "REJECT", not "APPROVED"',
    ],
    ["a canonical word that is not offered", { verdict: "pass", summary: "s" }, "exactly one of"],
    ["no summary", { verdict: "SHIP" }, '"summary" is missing.'],
    ["a blank summary", { verdict: "SHIP", summary: " \n" }, '"summary" is empty'],
    [
      "an unknown key",
      { verdict: "SHIP", summary: "s", Verdict: "SHIP" },
      '"Verdict" is not a known key. Known keys: verdict,',
    ],
    [
      "an unknown key inside",
      { verdict: "SHIP", summary: "s", issues: [{ description: "d", x: 1 }] },
      '"issues[0].x" is not a known key',
    ],
    [
      "an issue that is a sentence",
      { verdict: "SHIP", summary: "s", issues: ["bad"] },
      '"issues[0]" must be an object, not a string.',
    ],
    [
      "a severity of its own",
      { verdict: "SHIP", summary: "s", issues: [{ severity: "high", description: "d" }] },
      '"critical", "major", "minor", not "high"',
    ],
    [
      "a line that is no line",
      { verdict: "SHIP", summary: "s", issues: [{ description: "d", line: 1.5 }] },
      '"issues[0].line" must be a whole number, not 1.5.',
    ],
    [
      "a verdict for work that failed",
      { verdict: "SHIP", health: "failed", reason: "r", summary: "s" },
      '"verdict" is only for finished work',
    ],
    [
      "blocked without reason or question",
      { health: "blocked", summary: "s", questions: [] },
      '"reason" must say why, or "questions" ask',
    ],
    ["failed without reason", { health: "failed", summary: "s", reason: " " }, '"reason" must say why.'],
    ["a path out of the workspace", { verdict: "SHIP", summary: "s", handoff_path: "../x" }, "inside the workspace"],
    ["a list", [], "must be an object, not a list"],
  ])("S07: %s", (_, value, message) => {
    expect(messageOf(value)).toContain(message);
  });

  test("every fault is told at once, up to eight", () => {
    const message = messageOf({ verdict: 1, health: "fine", summary: 2, issues: [{}] });
    for (const name of ["verdict", "health", "summary", "issues[0].description"])
      expect(message).toContain(`"${name}"`);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 1]));
    expect(messageOf(many).match(/is not a known key/g)).toHaveLength(8);
  });

  test("S07: sizes are bounded", () => {
    const said = { verdict: "SHIP", summary: "s" };
    expect(messageOf({ ...said, summary: "x".repeat(70_000) })).toContain("larger than 65536 bytes");
    expect(messageOf({ ...said, issues: [{ description: "x".repeat(5000) }] })).toContain("longer than 4096");
    expect(messageOf({ ...said, issues: Array.from({ length: 201 }, () => ({ description: "x" })) })).toContain(
      "at most 200",
    );
    const gate = { name: "lint", passed: true, evidence: "x" };
    expect(messageOf({ ...said, gates: Array.from({ length: 201 }, () => gate) })).toContain("at most 200");
    expect(messageOf({ ...said, gates: [{ ...gate, evidence: "x".repeat(5000) }] })).toContain('"gates[0]"');
  });

  test("blocked with a question needs no verdict and stops the stage", () => {
    const reading = read({ health: "blocked", summary: "s", questions: ["Which port?"] });
    expect(reading.ok && judge(feature.words, qa, reading.value)).toMatchObject({
      health: "blocked",
      questions: ["Which port?"],
    });
  });
});

describe("the check of a schema", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { a: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }, { type: "null" }] } },
    required: ["a"],
  };
  test.each<[Json, readonly string[]]>([
    [{ a: "x" }, []],
    [{ a: null, b: 1 }, []],
    [{ a: ["x", 1] }, ['"a[1]" must be a string, not 1.']],
    [{ a: true }, ['"a" must be one of: a string, a list, null; not a boolean.']],
    [null, ["The value must be an object, not null."]],
  ])("%j: %j", (value, faults) => {
    expect(schemaFaults(schema, value)).toEqual(faults);
  });

  test.each<[string, JsonObject]>([
    ["pattern", { type: "string", pattern: "^a" }],
    ["type", { type: ["string", "null"] }],
    ["type", { type: "constructor" }],
    ["type", {}],
    ["$ref", { type: "array", items: { $ref: "#" } }],
    ["additionalProperties", { type: "object", additionalProperties: { type: "string" } }],
  ])("a schema with %s would not be checked and is told", (keyword, unchecked) => {
    expect(unknownKeyword(unchecked)).toBe(keyword);
  });
});
