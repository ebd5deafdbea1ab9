// The list of bad flow files: each input, its code, its line and, where useful, the suggestion. The numbers are those of the list.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadCatalog } from "./catalog.ts";

const shippedDir = join(import.meta.dirname, "../..");
const projectDir = mkdtempSync(join(tmpdir(), "passrail-bad-"));
const flowsDir = join(projectDir, ".passrail/flows");
mkdirSync(flowsDir, { recursive: true });
afterAll(() => rmSync(projectDir, { recursive: true }));

function check(text: string) {
  writeFileSync(join(flowsDir, "bad.yaml"), text);
  const result = loadCatalog({ shippedDir, projectDir }).requireFlow("bad");
  return result.ok ? result.value.problems : result.error;
}

const HEAD = "flow: bad\nversion: 1\nsubject: task\n";
const GATE = "  - { id: merge, kind: gate, route: { approve: end } }\n";
const flow = (stages: string, rest = "") => `${HEAD}${rest}stages:\n${stages}${GATE}`;
const BUILD = "  - { id: build, agent: builder }\n";

test.each([
  ["62 unknown key", `${HEAD}colour: red\nstages:\n${BUILD}${GATE}`, "unknown_field", 4, "known keys"],
  ["62 misspelt stages", `${HEAD}stagse:\n${BUILD}${GATE}`, "unknown_field", 4, 'did you mean "stages"?'],
  ["63 empty", "", "flow_must_be_mapping", 1, undefined],
  ["63 list at the top", "- flow: bad\n", "flow_must_be_mapping", 1, undefined],
  ["63 two documents", `${flow(BUILD)}---\nflow: b\n`, "multiple_documents", 7, "one file holds one"],
  ["64 no agent", flow("  - { id: build }\n"), "agent_missing", 5, "agent: <name>"],
  ["64 unknown agent", flow("  - { id: build, agent: bilder }\n"), "unknown_agent", 5, 'did you mean "builder"?'],
  ["64 the same id twice", flow(`${BUILD}${BUILD}`), "duplicate_stage", 6, "unique"],
  [
    "65 unknown target",
    flow("  - { id: build, agent: builder, route: { pass: mrege } }\n"),
    "flow_graph_invalid",
    5,
    'did you mean "merge"?',
  ],
  [
    "65 unreachable",
    flow(`  - { id: build, agent: builder, route: { pass: merge } }\n  - { id: x, agent: tester }\n`),
    "flow_graph_invalid",
    6,
    "remove it",
  ],
  [
    "65 no end",
    `${HEAD}stages:\n  - { id: a, agent: builder, route: { pass: stop } }\n`,
    "flow_graph_invalid",
    4,
    undefined,
  ],
  [
    "65 no way to the end",
    flow(
      `  - { id: a, agent: builder, route: { revise: b, pass: merge } }\n  - { id: b, agent: tester, route: { pass: stop } }\n`,
    ),
    "flow_graph_invalid",
    6,
    undefined,
  ],
  ["66 -1", flow(BUILD, "counters:\n  c: { max_loops: -1 }\n"), "invalid_number", 5, "from 0 to 20"],
  ["66 1.5", flow(BUILD, "counters:\n  c: { max_loops: 1.5 }\n"), "invalid_number", 5, "from 0 to 20"],
  ["66 1e9", flow(BUILD, "counters:\n  c: { max_loops: 1e9 }\n"), "invalid_number", 5, "from 0 to 20"],
  ["66 two", flow(BUILD, 'counters:\n  c: { max_loops: "two" }\n'), "invalid_number", 5, "from 0 to 20"],
  ["66 output", flow(BUILD, "defaults:\n  limits: { output: 999999mb }\n"), "invalid_value", 5, "at most 100mb"],
  [
    "66 the name of another tool",
    flow(BUILD, "counters:\n  c: { max_revisions: 2 }\n"),
    "unknown_field",
    5,
    'did you mean "max_loops"?',
  ],
  [
    "67 loop without limit",
    flow(`${BUILD}  - id: review\n    agent: reviewer\n    route:\n      revise: build\n`),
    "loop_without_limit",
    9,
    "counter",
  ],
  ["68 no gate", `${HEAD}stages:\n${BUILD}`, "flow_ungated", 5, "allow_ungated: true"],
  ["68 no gate, allowed", `${HEAD}allow_ungated: true\nstages:\n${BUILD}`, "flow_ungated", 4, undefined],
  [
    "69 join of a missing track",
    flow(
      "  - id: p\n    kind: parallel\n    join: [x, y]\n    tracks:\n      x: { stages: [{ id: a, agent: builder }] }\n",
    ),
    "invalid_join",
    7,
    'did you mean "x"?',
  ],
  [
    "69 parallel in itself",
    flow(
      "  - id: p\n    kind: parallel\n    tracks:\n      x:\n        stages:\n          - { id: q, kind: parallel, tracks: {} }\n",
    ),
    "invalid_value",
    10,
    "allowed: agent, builtin",
  ],
  ["70 anchor", flow("  - &b { id: build, agent: builder }\n"), "yaml_alias_not_allowed", 5, "write the value out"],
  ["70 tag", flow("  - { id: build, agent: !!js/function 'x' }\n"), "yaml_tag_not_allowed", 5, "quotes"],
  ["71 timeout 0", flow("  - id: build\n    agent: builder\n    timeout: 0\n"), "invalid_duration", 7, "30m"],
  ["71 timeout -1", flow("  - id: build\n    agent: builder\n    timeout: -1\n"), "invalid_duration", 7, "30m"],
  [
    "71 ten parsecs",
    flow('  - id: build\n    agent: builder\n    timeout: "10 parsecs"\n'),
    "invalid_duration",
    7,
    "30m",
  ],
  [
    "72 command as a line of shell",
    flow('  - id: build\n    agent: builder\n    command: "claude && rm"\n'),
    "command_must_be_list",
    7,
    "no shell",
  ],
  [
    "73 undeclared name",
    flow('  - id: build\n    agent: builder\n    command: ["claude", "${NOPE}"]\n'),
    "unknown_env",
    7,
    "vars",
  ],
  [
    "73 secret",
    flow(`  - id: build\n    agent: builder\n    prompt: "use sk-${"a1b2".repeat(8)}"\n`),
    "secret_in_config",
    7,
    "take it out",
  ],
  ["74 257 KiB", flow(BUILD, `title: ${"x".repeat(257 * 1024)}\n`), "flow_too_large", 1, undefined],
  ["74 nesting 200", flow(BUILD, `words: ${"[".repeat(200)}\n`), "flow_too_deep", 4, undefined],
])("%s", (_name, text, code, line, hint) => {
  const problems = check(text);
  const found = problems.find((problem) => problem.code === code);
  expect(found).toMatchObject({ code, line, file: join(flowsDir, "bad.yaml") });
  expect(found?.hint ?? "").toContain(hint ?? "");
});

test("73: the secret is in no part of the answer", () => {
  const secret = `sk-${"a1b2".repeat(8)}`;
  const answers = [
    flow(`  - { id: build, agent: builder, prompt: "${secret}" }\n`),
    flow(`  - { id: build, agnt: builder, title: ${secret} }\n`),
    `a: 1\na: ${secret}\n`,
  ];
  for (const text of answers) expect(JSON.stringify(check(text))).not.toContain(secret);
});
