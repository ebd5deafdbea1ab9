import { expect, test } from "vitest";
import { readRouteList } from "./route-list.ts";

const AGENTS = ["scout", "architect", "builder", "Reviewer"];
const read = (text: string) => readRouteList(text, AGENTS);
const LIST = '[{"agent":"builder","teams":true},{"agent":"reviewer"}]';
const STAGES = [
  { agent: "builder", teams: true },
  { agent: "Reviewer", teams: false },
];

test.each([
  ["bare", LIST],
  ["fenced", `\`\`\`json\n${LIST}\n\`\`\``],
  ["with text around it", `Simple task [1], so:\n${LIST}\nNo [architect] needed.`],
  ["with names in another case", LIST.replace("builder", "BUILDER")],
  ["twice the same", `${LIST}\n${LIST}`],
])("R-001-02, -04: the list is read %s; missing teams is false", (_, text) => {
  expect(read(text)).toEqual({ ok: true, value: { stages: STAGES } });
});

test("R-001-31: a list may hold an agent twice", () => {
  expect(read('[{"agent":"builder"},{"agent":"reviewer"},{"agent":"builder"},{"agent":"reviewer"}]')).toMatchObject({
    ok: true,
  });
});

test.each([
  ["no list", "Use the builder.", "verdict_missing", "No JSON list"],
  ["an object without a list", '{"stages":{"agent":"builder"}}', "verdict_missing", "No JSON list"],
  ["an empty list in an object", '{"stages":[]}', "verdict_field_invalid", "empty"],
  ["a list and an object that differ", `${LIST}\n{"stages":[{"agent":"builder"}]}`, "verdict_ambiguous", "differ"],
  ["an empty list", "[]", "verdict_field_invalid", "empty"],
  ["an unknown agent", '[{"agent":"builder"},{"agent":"hacker"}]', "verdict_field_invalid", '"hacker"'],
  ["names only", '["builder","reviewer"]', "verdict_field_invalid", "entry 1"],
  ["an entry without agent", '[{"agent":"builder"},{"teams":true}]', "verdict_field_invalid", "entry 2"],
  ["teams in words", '[{"agent":"builder","teams":"true"}]', "verdict_field_invalid", "teams"],
  [
    "21 entries",
    JSON.stringify(Array.from({ length: 21 }, () => ({ agent: "builder" }))),
    "verdict_field_invalid",
    "21",
  ],
  ["two lists that differ", `${LIST}\n[{"agent":"builder"}]`, "verdict_ambiguous", "differ"],
  ["a trailing comma", '[{"agent":"builder"},]', "verdict_invalid_json", "line 1"],
  ["a cut list", '[{"agent":"builder"},{"agent":"rev', "verdict_invalid_json", "line 1"],
  ["a list inside a cut one", '[{"agent":"scout","then":[{"agent":"builder"}]}', "verdict_invalid_json", "line 1"],
  ["Python", "[{'agent': 'builder', 'teams': True}]", "verdict_invalid_json", "line 1"],
])("R-001-04: %s is an error that names the cause", (_, text, code, cause) => {
  expect(read(text)).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(cause) } });
});

test("R-001-04: the list may stand in an object under stages, as a model with a schema answers", () => {
  const list = '[{"agent":"Builder","teams":true},{"agent":"reviewer"}]';
  const stages = [
    { agent: "builder", teams: true },
    { agent: "Reviewer", teams: false },
  ];
  expect(read(`{"stages": ${list}}`)).toMatchObject({ ok: true, value: { stages } });
  expect(read(`Here it is:\n\`\`\`json\n{"stages": ${list}, "why": "small"}\n\`\`\``)).toMatchObject({
    ok: true,
    value: { stages },
  });
  // The same list twice is one answer.
  expect(read(`${list}\n{"stages": ${list}}`)).toMatchObject({ ok: true, value: { stages } });
});
