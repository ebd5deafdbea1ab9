import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkFlow } from "./check-flow.ts";
import type { CheckContext } from "./context.ts";
import { nearest } from "./suggest.ts";
import { optional } from "../optional.ts";

const context: CheckContext = {
  agents: new Set(["builder", "reviewer", "tester"]),
  prompts: new Set(["agent0-spec", "fragments/merge-auto", "fragments/inline-dod-gate"]),
  builtins: new Set(["bundles", "join"]),
};

type Stage = Record<string, unknown>;
const build: Stage = { id: "build", agent: "builder" };
const review: Stage = {
  id: "review",
  agent: "reviewer",
  route: { pass: "next", revise: { goto: "build", counter: "loop" } },
};
const gate: Stage = { id: "merge", kind: "gate", route: { approve: "end", decline: "stop" } };

function flow(
  stages: readonly Stage[] = [build, review, gate],
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  const uses = JSON.stringify(stages).includes('"loop"');
  return {
    flow: "x",
    version: 1,
    subject: "task",
    ...(uses ? { counters: { loop: { max_attempts: 3 } } } : {}),
    ...rest,
    stages,
  };
}

/** code and path of all errors, then of all warnings. */
function found(file: unknown, more: Partial<CheckContext> = {}): string[] {
  const check = checkFlow(file, { ...context, ...more });
  const errors = check.ok ? [] : check.error;
  return [...errors, ...check.warnings].map(
    ({ code, path, severity }) => `${severity === "warning" ? "~" : ""}${code} ${path.join(".")}`,
  );
}

function hintOf(file: unknown): string | undefined {
  const check = checkFlow(file, context);
  return check.ok ? check.warnings[0]?.hint : check.error[0]?.hint;
}

test("a flow without faults has no problems", () => {
  expect(found(flow())).toEqual([]);
});

describe("keys that version 0.1 had and that changed nothing", () => {
  const stageWith = (more: Stage) => flow([{ ...build, ...more }, review, gate]);
  test.each<[string, Record<string, unknown>, RegExp]>([
    ["stages.0.trigger", stageWith({ trigger: "webhook" }), /webhooks/],
    ["stages.0.dir", stageWith({ dir: "x" }), /tickets\.dir/],
    [
      "stages.0.route.failed.write",
      stageWith({ route: { failed: { goto: "stop", write: "error" } } }),
      /always writes/,
    ],
    [
      "stages.0.result.fresh",
      stageWith({ result: { from: "file-verdict", path: "R.md", fresh: true } }),
      /only a new one/,
    ],
    ["stages.0.gates.per", stageWith({ gates: { trust: "never", per: "track" } }), /each track/],
    ["workspace.provider", flow(undefined, { workspace: { provider: "daytona" } }), /workspaces\.sandbox/],
    ["handoffs.one_pending_per", flow(undefined, { handoffs: { one_pending_per: ["story"] } }), /at most one/],
    ["handoffs.on_start", flow(undefined, { handoffs: { on_start: "timeout-stale" } }), /stale_after/],
    [
      "defaults.isolation",
      flow(undefined, { defaults: { isolation: { context: "clean" } } }),
      /session: clean.*questions: deny/,
    ],
    [
      "merge.env",
      flow(undefined, { merge: { env: "M", default: "a", modes: { a: "pr" }, fragments: {} } }),
      /MERGE_MODE/,
    ],
  ])("%s is refused, and the hint says what to do", (path, file, hint) => {
    expect(found(file)).toContain(`removed_field ${path}`);
    expect(hintOf(file)).toMatch(hint);
  });

  test("the same word elsewhere is an unknown key like any other", () => {
    expect(found(flow(undefined, { fresh: true }))).toEqual(["unknown_field fresh"]);
  });
});

describe("form", () => {
  test("62: a misspelt key is one fault, with the word that was meant", () => {
    const { stages, ...rest } = flow();
    expect(found({ ...rest, stagse: stages })).toEqual(["unknown_field stagse"]);
    expect(hintOf({ ...rest, stagse: stages })).toBe('did you mean "stages"?');
    expect(hintOf(flow([{ ...build, on: {} }, review, gate]))).toBe('did you mean "route"?');
    expect(found(flow([build, { ...review, route: { revise: { gotoo: "build" } } }, gate]))).toEqual([
      "unknown_field stages.1.route.revise.gotoo",
    ]);
  });
  test("63: what is not a mapping", () => {
    for (const value of [null, [], "x", 3, undefined]) expect(found(value)).toEqual(["flow_must_be_mapping "]);
  });
  test.each([-1, 1.5, 1e9, "two", Number.POSITIVE_INFINITY])("66: a limit of %s is refused with the range", (value) => {
    const loops = flow(undefined, { counters: { loop: { max_loops: value } } });
    expect(found(loops)).toEqual(["invalid_number counters.loop.max_loops"]);
    expect(hintOf(loops)).toBe("expected a whole number from 0 to 20");
    const attempts = flow(undefined, { counters: { loop: { max_attempts: value } } });
    expect(found(attempts)).toEqual(["invalid_number counters.loop.max_attempts"]);
    expect(hintOf(attempts)).toBe("expected a whole number from 1 to 20, or none");
  });
  test.each([0, -1, "10 parsecs", "0s", "1.5h", "25d", "", true])(
    "71: a timeout of %s is refused with examples",
    (timeout) => {
      const file = flow([{ ...build, timeout }, review, gate]);
      expect(found(file)).toEqual(["invalid_duration stages.0.timeout"]);
      expect(hintOf(file)).toContain("30m");
    },
  );
  test.each(["999999mb", "101mb", "100000kb", "0mb", "1gb"])(
    "P5: an output limit of %s names the maximum",
    (output) => {
      const file = flow([{ ...build, limits: { output } }, review, gate]);
      expect(found(file)).toEqual(["invalid_value stages.0.limits.output"]);
      expect(hintOf(file)).toContain("at most 100mb");
    },
  );
  test("72: a command is a list", () => {
    const file = flow([{ ...build, command: "claude && rm" }, review, gate]);
    expect(found(file)).toEqual(["command_must_be_list stages.0.command"]);
    expect(found(flow([{ ...build, command: ["claude", 3] }, review, gate]))).toEqual([
      "command_must_be_list stages.0.command.1",
    ]);
  });
  test("words, names and types", () => {
    const file = flow([{ ...build, kind: "agnt" }, review, gate]);
    expect(found(file)).toEqual(["invalid_value stages.0.kind"]);
    expect(hintOf(file)).toContain('did you mean "agent"?');
    expect(found(flow([{ ...build, id: "a b" }, gate]))).toContain("invalid_name stages.0.id");
    expect(found(flow(undefined, { counters: { "a b": {}, loop: {} } }))).toContain("invalid_name counters.a b");
    expect(found(flow(undefined, { flow: "../x" }))).toEqual(["invalid_value flow"]);
    expect(found(flow(undefined, { title: ["x"] }))).toEqual(["invalid_type title"]);
    expect(found(flow(undefined, { subject: undefined }))).toEqual(["missing_field subject"]);
    expect(found(flow([]))).toEqual(["invalid_type stages"]);
  });
  test("faults of form do not hide faults of meaning", () => {
    const file = flow([
      { ...build, agent: "bilder", timeout: "soon" },
      { ...review, route: { revise: { goto: "bild", counter: "loop" } } },
      gate,
    ]);
    expect(found(file)).toEqual([
      "invalid_duration stages.0.timeout",
      "unknown_agent stages.0.agent",
      "flow_graph_invalid stages.1.route.revise.goto",
    ]);
  });
});

describe("stages", () => {
  test("64: no agent, an unknown agent, the same id twice", () => {
    expect(found(flow([{ id: "build" }, gate]))).toEqual(["agent_missing stages.0"]);
    expect(found(flow([{ id: "build", agent: "Bilder" }, gate]))).toEqual(["unknown_agent stages.0.agent"]);
    expect(hintOf(flow([{ id: "build", agent: "Bilder" }, gate]))).toBe('did you mean "builder"?');
    expect(found(flow([build, { ...build }, gate]))).toContain("duplicate_stage stages.1.id");
    expect(found(flow([{ ...build, agent: "BUILDER" }, gate]))).toEqual([]);
  });
  test("an id that is a word of routes", () => {
    expect(found(flow([{ ...build, id: "next" }, gate]))).toContain("reserved_id stages.0.id");
  });
  test("unknown prompts, builtins and fragments", () => {
    expect(found(flow([{ ...build, prompt_file: "agent0-spce" }, gate]))).toEqual([
      "unknown_prompt stages.0.prompt_file",
    ]);
    expect(found(flow([{ ...build, inline: ["dod-gate", "x"] }, gate]))).toEqual(["unknown_prompt stages.0.inline.1"]);
    expect(found(flow([{ id: "b", kind: "builtin", do: "bundle" }, gate]))).toEqual(["unknown_builtin stages.0.do"]);
    expect(found(flow([{ id: "b", kind: "builtin" }, gate]))).toEqual(["builtin_missing stages.0"]);
    const merge = { default: "atuo", modes: { auto: "pr" }, fragments: { auto: "merge-x" } };
    expect(found(flow(undefined, { merge }))).toEqual([
      "unknown_mode merge.default",
      "unknown_prompt merge.fragments.auto",
    ]);
  });
  test("keys of another kind are not ignored in silence", () => {
    expect(found(flow([{ ...build, tracks: {}, do: "bundles" }, gate]))).toEqual([
      "key_not_for_kind stages.0.do",
      "key_not_for_kind stages.0.tracks",
    ]);
    expect(found(flow([build, { ...gate, agent: "builder" }]))).toEqual(["key_not_for_kind stages.1.agent"]);
  });
  test("R-002-10: a flow that picks models picks one for every agent", () => {
    expect(found(flow([{ ...build, model: "opus" }, review, gate]))).toEqual(["model_missing stages.1"]);
    expect(found(flow([{ ...build, model: "opus" }, review, gate], { defaults: { model: "sonnet" } }))).toEqual([]);
  });
  test("R-002-58: a text that no longer asks for what its stage promises", () => {
    const stages = [
      { ...build, produces: ["## DoD coverage"] },
      { ...review, gates: { trust: "developer-latest-clean" } },
      gate,
    ];
    const texts = (builder: string, reviewer: string) => (_kind: string, name: string) =>
      ({ builder, reviewer, "fragments/output-handoff-file": "## Status" })[name];
    const policy = "## Quality-gate re-execution policy";
    expect(found(flow(stages), { textOf: texts("## DoD coverage", policy) })).toEqual([]);
    expect(found(flow(stages), { textOf: texts("", "") })).toEqual([
      "prompt_contract_broken stages.0.produces.0",
      "prompt_contract_broken stages.1.gates",
    ]);
    const handoff = { defaults: { result: { from: "handoff-file", health: "## Status" } } };
    expect(found(flow([build, gate], handoff), { textOf: texts("x", "") })).toEqual([]);
    expect(found(flow([build, gate], handoff), { textOf: (_kind, name) => (name === "builder" ? "x" : "") })).toEqual([
      "prompt_contract_broken stages.0",
    ]);
  });
  test("a runner without teams is told at the check, where a router could ask for one", () => {
    const stages = [{ id: "run", kind: "dynamic", from: ["input.agent"], templates: { "*": {} } }, gate];
    expect(found(flow(stages), { runnerOf: () => "codex" })).toEqual(["~teams_not_supported stages.0.templates.*"]);
    expect(found(flow(stages), { runnerOf: () => "claude" })).toEqual([]);
    expect(found(flow(stages), { runnerOf: () => undefined })).toEqual([]);
    const leads = [{ ...build, teams: true }, gate];
    expect(found(flow(leads), { runnerOf: () => "codex" })).toEqual(["teams_not_supported stages.0"]);
  });
});

describe("routes and counters", () => {
  const to = (route: unknown, more: readonly Stage[] = []) => flow([{ ...build, route }, ...more, gate]);
  test("65: targets that are not there", () => {
    expect(found(to({ pass: "mrege" }))).toContain("flow_graph_invalid stages.0.route.pass.goto");
    expect(hintOf(to({ pass: "mrege" }))).toBe('did you mean "merge"?');
    expect(found(to({ revise: { goto: "agent:tester" } }))).toEqual(["flow_graph_invalid stages.0.route.revise.goto"]);
    expect(found(to({ revise: "prev" }))).toEqual(["flow_graph_invalid stages.0.route.revise.goto"]);
    expect(found(to({ blocked: { ask: "me", choices: { a: "nowhere", b: "cancel", c: "self" } } }))).toEqual([
      "flow_graph_invalid stages.0.route.blocked.choices.a",
    ]);
    expect(found(to({ revise: "cancel" }))).toEqual(["flow_graph_invalid stages.0.route.revise.goto"]);
    expect(found(flow(undefined, { escalation: { choices: { again: "self", x: "biuld" } } }))).toEqual([
      "flow_graph_invalid escalation.choices.x",
    ]);
  });
  test("a fault in defaults is told once", () => {
    expect(found(flow(undefined, { defaults: { route: { failed: "esclate" } } }))).toEqual([
      "flow_graph_invalid defaults.route.failed.goto",
    ]);
  });
  test("keys that cannot happen", () => {
    const words = { verdict: { SHIP: "pass", FIX: "revise" } };
    expect(found(flow([{ ...build, route: { FIX: "stop" } }, gate], { words }))).toEqual([
      "unknown_route_key stages.0.route.FIX",
    ]);
    expect(hintOf(flow([{ ...build, route: { FIX: "stop" } }, gate], { words }))).toBe(
      'routes go by what a word means: write "revise"',
    );
    expect(found(to({ complete: "next" }))).toEqual(["unknown_route_key stages.0.route.complete"]);
    expect(found(to({ timeout: "next" }))).toEqual(["unknown_route_key stages.0.route.timeout"]);
    expect(found(flow([build, { ...gate, route: { ok: "end" } }]))).toContain("gate_without_approve stages.1.route");
  });
  test("counters that are unknown, unused or contradictory", () => {
    expect(found(to({ revise: { goto: "self", counter: "lop" } }))).toContain(
      "unknown_counter stages.0.route.revise.counter",
    );
    expect(found(flow([build, gate], { counters: { x: {} } }))).toEqual(["~counter_unused counters.x"]);
    expect(found(flow(undefined, { counters: { loop: { max_attempts: 3, max_loops: 3 } } }))).toEqual([
      "counter_contradiction counters.loop",
    ]);
    expect(found(flow(undefined, { counters: { loop: { max_attempts: 3, max_loops: 2 } } }))).toEqual([]);
    expect(found(flow(undefined, { counters: { loop: { resets: ["lop"] } } }))).toEqual([
      "unknown_counter counters.loop.resets.0",
    ]);
    expect(found(flow(undefined, { counters: { loop: { resets: ["loop"] } } }))).toEqual([
      "loop_without_limit counters.loop.resets.0",
    ]);
  });
  test("a spent counter has a way out in every stage that uses it", () => {
    const counters = { loop: { max_loops: 1, on_exhausted: "force" } };
    expect(found(flow(undefined, { counters }))).toEqual(["exhaustion_not_routed counters.loop.on_exhausted"]);
    const forced = {
      ...review,
      route: { revise: { goto: "build", counter: "loop" }, force: { goto: "self", once: true, else: "stop" } },
    };
    expect(found(flow([build, forced, gate], { counters }))).toEqual([]);
  });
});

describe("the graph", () => {
  test("65: stages that are never reached", () => {
    expect(found(flow([{ ...build, route: { pass: "merge" } }, { id: "test", agent: "tester" }, gate]))).toEqual([
      "flow_graph_invalid stages.1",
    ]);
    expect(
      found(flow([build, gate, { id: "test", agent: "tester", reach: "enter-only" }], { allow_ungated: true })),
    ).toEqual(["flow_graph_invalid stages.2"]);
  });
  test("65: no end, and stages from which none is reached", () => {
    expect(found(flow([build, { ...gate, route: { approve: "build" } }]))).toEqual(["flow_graph_invalid stages"]);
    const stages = [
      build,
      { ...review, route: { pass: "merge", revise: "stuck" } },
      { id: "stuck", agent: "tester", route: { pass: "stop" } },
      gate,
    ];
    expect(found(flow(stages))).toEqual(["flow_graph_invalid stages.2"]);
  });
  test("67: a loop without a limit", () => {
    const back = { ...review, route: { revise: "build" } };
    expect(found(flow([build, back, gate]))).toEqual(["loop_without_limit stages.1.route.revise.goto"]);
    expect(found(flow([{ ...build, route: { failed: "self" } }, gate]))).toEqual([
      "loop_without_limit stages.0.route.failed.goto",
    ]);
    expect(found(flow([build, gate], { defaults: { route: { incomplete: "self" } } }))).toEqual([
      "loop_without_limit defaults.route.incomplete.goto",
    ]);
    expect(found(flow([{ ...build, route: { failed: { goto: "self", once: true } } }, gate]))).toEqual([]);
    expect(found(flow([{ ...build, route: { failed: { goto: "self", once: true, else: "self" } } }, gate]))).toEqual([
      "loop_without_limit stages.0.route.failed.else",
    ]);
  });
  test("67: a loop with a person in it needs no limit", () => {
    expect(found(flow([{ ...build, route: { blocked: { ask: "owner" } } }, gate]))).toEqual([]);
    expect(found(flow([build, { ...gate, route: { approve: "end", revise: "build" } }]))).toEqual([]);
  });
  test("67: a counter without a limit is a warning; one that compares texts is refused, with what to write instead", () => {
    expect(found(flow(undefined, { counters: { loop: { max_attempts: "none" } } }))).toEqual([
      "~loop_without_limit stages.1.route.revise.goto",
    ]);
    const checked = checkFlow(flow(undefined, { counters: { loop: { max_attempts: 3, same_issues: 3 } } }), context);
    expect((checked.ok ? [] : checked.error).map(({ code, hint }) => [code, hint])).toEqual([
      ["removed_field", expect.stringMatching(/"findings: ids".*"max_attempts"/u)],
    ]);
  });
  test("67: a stage that may be passed over does not hide a loop", () => {
    const skipped = { id: "maybe", kind: "gate", when: "plan.new_infra", route: { approve: "next" } };
    expect(found(flow([build, skipped, { ...review, route: { revise: "build" } }, gate]))).toEqual([
      "loop_without_limit stages.2.route.revise.goto",
    ]);
  });
  test("68: work that ends without a gate", () => {
    const start = { id: "start", kind: "gate", route: { approve: "next" } };
    expect(found(flow([start, build]))).toEqual(["flow_ungated stages.1"]);
    expect(found(flow([build]))).toEqual(["flow_ungated stages.0"]);
    expect(found(flow([build], { allow_ungated: true }))).toEqual(["~flow_ungated allow_ungated"]);
    expect(found(flow([{ ...build, route: { redesign: "end" } }, gate]))).toEqual(["flow_ungated stages.0"]);
    expect(found(flow([build, { ...gate, when: "plan.new_infra" }]))).toEqual(["flow_ungated stages.0"]);
  });
});

describe("tracks", () => {
  const track = (id: string, route?: unknown) => ({
    workspace: { dir: id },
    stages: [{ id, agent: "builder", ...optional({ route }) }],
  });
  const split = (tracks: unknown, more: Stage = {}) =>
    flow([{ id: "split", kind: "parallel", tracks, ...more }, { id: "test", agent: "tester" }, gate]);
  test("two tracks that are joined", () => {
    expect(found(split({ be: track("a"), fe: track("b") }))).toEqual([]);
    expect(found(split({ be: track("a"), fe: track("b") }, { join: ["be", "fe"] }))).toEqual([]);
  });
  test("a join belongs behind a parallel stage; tracks without one and without folders share everything", () => {
    const join = { id: "join", kind: "builtin", do: "join" };
    const bare = (id: string) => ({ stages: [{ id, agent: "builder" }] });
    const parallel = { id: "split", kind: "parallel", tracks: { be: bare("a"), fe: bare("b") } };
    const after = { id: "test", agent: "tester" };
    expect(found(flow([parallel, join, after, gate]))).toEqual([]);
    expect(found(flow([parallel, after, gate]))).toEqual(["~tracks_share_workspace stages.0"]);
    expect(found(flow([after, join, gate]))).toEqual(["join_without_tracks stages.1"]);
  });
  test("a judge names its words where one of the flow's would pass without a judgement", () => {
    const words = { verdict: { OK: "pass", BAD: "revise", "n/a": "pass" } };
    const judging = (more: Stage) => ({
      id: "judge",
      agent: "tester",
      route: { revise: { goto: "build", counter: "c" } },
      ...more,
    });
    const whole = (more: Stage) => ({
      ...(flow([{ id: "build", agent: "builder" }, judging(more), gate]) as object),
      words,
      counters: { c: { max_loops: 1 } },
    });
    expect(found(whole({}))).toEqual(["judge_without_verdict stages.1"]);
    expect(found(whole({ verdicts: ["OK", "n/a", "BAD"] }))).toEqual(["judge_without_verdict stages.1.verdicts"]);
    expect(found(whole({ verdicts: ["OK", "BAD"] }))).toEqual([]);
  });
  test("69: joins of tracks that are missing, tracks that are never joined, no tracks", () => {
    expect(found(split({ be: track("a"), fe: track("b") }, { join: ["be", "ef", "fe"] }))).toEqual([
      "invalid_join stages.0.join.1",
    ]);
    expect(found(split({ be: track("a"), fe: track("b") }, { join: ["be"] }))).toEqual(["invalid_join stages.0.join"]);
    expect(found(split(undefined))).toEqual(["invalid_join stages.0"]);
  });
  test("69: a parallel stage inside a track is refused", () => {
    expect(found(split({ be: { stages: [{ id: "a", kind: "parallel", tracks: {} }] } }))).toEqual(
      expect.arrayContaining(["invalid_value stages.0.tracks.be.stages.0.kind"]),
    );
  });
  test("a track cannot end the run, nor lead out of itself, nor be led into", () => {
    expect(found(split({ be: track("a", { pass: "end" }), fe: track("b") }))).toEqual([
      "flow_graph_invalid stages.0.tracks.be.stages.0.route.pass.goto",
    ]);
    expect(found(split({ be: track("a", { revise: "b" }), fe: track("b") }))).toEqual([
      "flow_graph_invalid stages.0.tracks.be.stages.0.route.revise.goto",
    ]);
    const into = flow([
      { id: "split", kind: "parallel", tracks: { be: track("a") } },
      { id: "test", agent: "tester", route: { revise: { goto: "a", counter: "loop" } } },
      gate,
    ]);
    expect(found(into)).toEqual(["flow_graph_invalid stages.1.route.revise.goto"]);
    expect(hintOf(into)).toContain('"split"');
  });
  test("a loop over a fork and a loop in a track are found", () => {
    const over = flow([
      { id: "split", kind: "parallel", tracks: { be: track("a") } },
      { id: "test", agent: "tester", route: { revise: "split" } },
      gate,
    ]);
    expect(found(over)).toEqual(["loop_without_limit stages.1.route.revise.goto"]);
    expect(found(split({ be: track("a", { revise: "self" }) }))).toEqual([
      "loop_without_limit stages.0.tracks.be.stages.0.route.revise.goto",
    ]);
  });
  test("names of tracks and ids are unique over the flow", () => {
    const twice = flow([
      { id: "one", kind: "parallel", tracks: { be: track("a") } },
      { id: "two", kind: "parallel", tracks: { be: track("a"), main: track("c") } },
      gate,
    ]);
    expect(found(twice)).toEqual(
      expect.arrayContaining([
        "duplicate_track stages.1.tracks.be",
        "duplicate_track stages.1.tracks.main",
        "duplicate_stage stages.1.tracks.be.stages.0.id",
      ]),
    );
  });
  test("blame needs tracks", () => {
    expect(
      found(
        flow([
          build,
          { ...review, route: { revise: { goto: "build", counter: "loop", only: "blamed-tracks" } } },
          gate,
        ]),
      ),
    ).toEqual(["only_without_tracks stages.1.route.revise.only"]);
  });
});

describe("words, conditions, texts", () => {
  test("verdict words", () => {
    const words = { verdict: { SHIP: "pass", FIX: "revise" } };
    expect(found(flow([{ ...build, verdicts: ["SHIP", "SHPI"] }, gate], { words }))).toEqual([
      "unknown_verdict_word stages.0.verdicts.1",
    ]);
    expect(found(flow([{ ...build, verdicts: ["SHIP", "FIX"] }, gate], { words }))).toEqual([
      "~verdict_not_routed stages.0.verdicts.1",
    ]);
    expect(
      found(flow([{ ...build, verdicts: ["SHIP"] }, gate], { words: { ...words, unknown_verdict: "pass" } })),
    ).toEqual(["unknown_verdict_passes words.unknown_verdict"]);
    expect(found(flow(undefined, { words: { score: { pass: [8, 10], revise: [5, 8] } } }))).toEqual([
      "score_ranges_overlap words.score.revise",
    ]);
    expect(found(flow(undefined, { words: { score: { pass: [10, 8] } } }))).toEqual([
      "invalid_number words.score.pass",
    ]);
  });
  test("results that lack what they need", () => {
    expect(found(flow([{ ...build, result: { from: "file-verdict" } }, gate]))).toEqual([
      "result_incomplete stages.0.result",
    ]);
    expect(found(flow([{ ...build, result: { from: "prefix", prefixes: { "X:": "X" } } }, gate]))).toEqual([
      "unknown_verdict_word stages.0.result.prefixes.X:",
    ]);
  });
  test("conditions", () => {
    expect(found(flow([{ ...build, when: "plan.new_infra &&" }, gate]))).toEqual(["invalid_condition stages.0.when"]);
    expect(found(flow([{ ...build, when: "paln.new_infra" }, gate]))).toEqual(["~unknown_fact stages.0.when"]);
    expect(found(flow([build, { ...review, when: "last('build').open_questions > 0" }, gate]))).toEqual([]);
    expect(found(flow([{ ...build, when: "last('review').open_questions > 0" }, review, gate]))).toEqual([
      "unknown_stage stages.0.when",
    ]);
    expect(found(flow([build, { ...review, when: "last('build').questions" }, gate]))).toEqual([
      "~unknown_fact stages.1.when",
    ]);
    const status = { approve: { goto: "end", status: { when: "a ==", is: "x", else: "y" } } };
    expect(found(flow([build, { ...gate, route: status }]))).toEqual([
      "invalid_condition stages.1.route.approve.status.when",
    ]);
    expect(found(flow(undefined, { choose: { when: "(" } }))).toEqual(["invalid_condition choose.when"]);
  });
  test("entries", () => {
    expect(found(flow(undefined, { enter: { Backlog: "biuld" } }))).toEqual(["unknown_stage enter.Backlog"]);
    const rules = [{ stage: "build" }, { when: "ticket.x", stage: "reviw" }];
    expect(found(flow(undefined, { enter: { Backlog: rules } }))).toEqual([
      "unknown_stage enter.Backlog.1.stage",
      "~entry_rules enter.Backlog",
    ]);
  });
  test("the list of a dynamic stage comes from an earlier router", () => {
    const run = { id: "run", kind: "dynamic", from: ["input.agent", "route.stages"], templates: { builder: {} } };
    expect(found(flow([{ id: "route", kind: "router" }, run, gate]))).toEqual([]);
    expect(found(flow([build, run, gate]))).toEqual(["unknown_stage stages.1.from.1"]);
    expect(found(flow([{ id: "route", kind: "router" }, { ...run, templates: { bilder: {} } }, gate]))).toEqual([
      "unknown_agent stages.1.templates.bilder",
    ]);
  });
  test("73: names of the environment that nothing declares", () => {
    expect(found(flow([{ ...build, command: ["x", "--key=${API_KEY}", "$HOME"] }, gate]))).toEqual([
      "unknown_env stages.0.command.1",
      "unknown_env stages.0.command.2",
    ]);
    expect(
      found(flow([{ ...build, command: ["x", "$STORY_ID", "$PASSRAIL_RUN_ID"], vars: ["STORY_ID"] }, gate])),
    ).toEqual([]);
  });
  test("73: secrets are found anywhere and not repeated", () => {
    const secret = `sk-ant-${"a1".repeat(20)}`;
    for (const value of [
      secret,
      `ghp_${"x".repeat(36)}`,
      `AKIA${"A".repeat(16)}`,
      "postgres://me:pass@host/db",
      "-----BEGIN RSA PRIVATE KEY-----",
    ]) {
      expect(found(flow([{ ...build, prompt: `use ${value}` }, gate]))).toEqual(["secret_in_config stages.0.prompt"]);
    }
    expect(JSON.stringify(checkFlow(flow([{ ...build, title: secret }, gate]), context))).not.toContain(secret);
  });
  test("paths that leave the workspace, branches that git would take for options, places that are not facts", () => {
    for (const dir of ["../x", "/etc", "a/../../b", "~/x", "C:\\x"])
      expect(found(flow(undefined, { workspace: { dir } }))).toEqual(["unsafe_path workspace.dir"]);
    for (const branch of ["-f", "a b", "a..b:c"])
      expect(found(flow(undefined, { workspace: { branch } }))).toEqual(["invalid_branch workspace.branch"]);
    expect(found(flow(undefined, { workspace: { branch: "feat/{'x' if y}" } }))).toContain(
      "invalid_template workspace.branch",
    );
  });
});

test("no value makes the check throw", () => {
  const junk = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(
        null,
        0,
        -1,
        1.5,
        "",
        "next",
        "end",
        "build",
        "30m",
        true,
        "agent:builder",
        "loop",
        "x ==",
        "{a}",
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          "id",
          "kind",
          "agent",
          "route",
          "pass",
          "goto",
          "counter",
          "stages",
          "tracks",
          "be",
          "join",
          "when",
          "x",
        ),
        tie("value"),
      ),
    ),
  })).value;
  const keys = fc.constantFrom(
    "words",
    "counters",
    "escalation",
    "workspace",
    "enter",
    "defaults",
    "stages",
    "choose",
    "merge",
    "x",
  );
  fc.assert(
    fc.property(keys, junk, fc.array(junk, { maxLength: 3 }), (key, value, stages) => {
      checkFlow(flow(undefined, { [key]: value }), context);
      checkFlow(flow(stages as Stage[]), context);
      checkFlow(value, context);
    }),
    { numRuns: 500 },
  );
});

test("what a person sees can be chosen only where a person is asked", () => {
  const shows = (route: object) => [{ ...build, route: { blocked: route } }, gate];
  expect(found(flow(shows({ goto: "stop", show: "status-reason" })))).toEqual([
    "show_without_ask stages.0.route.blocked.show",
  ]);
  expect(found(flow(shows({ ask: "owner", show: "status-reason" })))).toEqual([]);
  const defaults = { route: { failed: { goto: "stop", show: "status-reason" } } };
  expect(found(flow(undefined, { defaults }))).toEqual(["show_without_ask defaults.route.failed.show"]);
});

test("the nearest word is near", () => {
  expect(nearest("biuld", ["build", "bundle"])).toBe("build");
  expect(nearest("qa", ["build", "review"])).toBeUndefined();
  expect(nearest("x".repeat(10_000), ["build"])).toBeUndefined();
});
