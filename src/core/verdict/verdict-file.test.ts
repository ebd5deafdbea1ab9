import { expect, test } from "vitest";
import { readVerdictFile } from "./verdict-file.ts";

const codeOf = (text: string, nonce?: string) => {
  const read = readVerdictFile(text, nonce === undefined ? {} : { nonce });
  return read.ok ? "ok" : read.error.code;
};

test("every known key is read and kept as given", () => {
  const given = {
    verdict: "SHIP",
    health: "complete",
    reason: "done",
    score: 9,
    issues: ["a"],
    questions: ["b"],
    summary: "c",
    stages: [{ agent: "builder" }, { agent: "reviewer", teams: true }],
    blame: ["be"],
    payload: { plan: "x" },
    path: "notes/handoff.md",
  };
  expect(readVerdictFile(JSON.stringify(given))).toEqual({
    ok: true,
    value: {
      ...given,
      stages: [
        { agent: "builder", teams: false },
        { agent: "reviewer", teams: true },
      ],
    },
  });
});

test("health alone is enough", () => {
  expect(readVerdictFile('{"health":"blocked","questions":["Which port?"]}')).toEqual({
    ok: true,
    value: { health: "blocked", questions: ["Which port?"] },
  });
});

test.each(["", " \n", "{}"])("bad input 75: a file that says nothing (%j) is missing", (text) => {
  expect(codeOf(text)).toBe("verdict_missing");
});

test.each([
  ["verdicts", "verdict"],
  ["Verdict", "verdict"],
  ["verdcit", "verdict"],
  ["isues", "issues"],
  ["question", "questions"],
])("the unknown key %j is refused with the likely one", (key, likely) => {
  const read = readVerdictFile(JSON.stringify({ [key]: "SHIP" }));
  expect(read).toMatchObject({
    ok: false,
    error: { code: "verdict_field_invalid", message: expect.stringContaining(`did you mean "${likely}"`) },
  });
});

test("R-000-04: the file may hold the source's own keys; another agent's or feature's file is refused", () => {
  const own = { agent: "IN6", subjectId: "F-1", subjectKey: "feature_id" };
  const text = (change: object) =>
    JSON.stringify({
      verdict: "SHIP",
      feature_id: "F-1",
      agent: "in6",
      revision_loop: 1,
      next_agent: "HBx",
      ...change,
    });
  expect(readVerdictFile(text({}), own)).toMatchObject({
    ok: true,
    value: { verdict: "SHIP", claimed: { loop: 1, next: "HBx" } },
  });
  expect(readVerdictFile(text({ agent: "IN2" }), own)).toMatchObject({
    ok: false,
    error: { code: "verdict_wrong_subject" },
  });
  expect(readVerdictFile(text({ feature_id: "F-2" }), own)).toMatchObject({
    ok: false,
    error: { code: "verdict_wrong_subject" },
  });
});

test("an unknown key with no likely one is named with those that are known", () => {
  const read = readVerdictFile('{"colour":"red","verdict":"SHIP"}');
  expect(read).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/"colour"\. Known keys: verdict/) },
  });
});

test.each([
  ["a list", "[]", "verdict_field_invalid"],
  ["a string", '"SHIP"', "verdict_field_invalid"],
  ["a verdict that is no string", '{"verdict":true}', "verdict_unknown"],
  ["a health that is no string", '{"health":1}', "verdict_field_invalid"],
  ["an empty list of stages", '{"stages":[]}', "verdict_field_invalid"],
  ["stages without agents", '{"stages":[{"teams":true}]}', "verdict_field_invalid"],
  ["teams in words", '{"stages":[{"agent":"builder","teams":"yes"}]}', "verdict_field_invalid"],
  ["a payload that is a list", '{"payload":[]}', "verdict_field_invalid"],
  ["a path outside", '{"path":"../x"}', "verdict_field_invalid"],
  ["truncated JSON", '{"verdict":"SHIP"', "verdict_invalid_json"],
  ["two objects", '{"verdict":"SHIP"}{"verdict":"REVISE"}', "verdict_invalid_json"],
  ["the same key twice", '{"verdict":"REVISE","verdict":"SHIP"}', "verdict_invalid_json"],
  ["more than 64 KiB", JSON.stringify({ summary: "x".repeat(65_536) }), "verdict_too_large"],
])("%s is refused", (_, text, code) => {
  expect(codeOf(text)).toBe(code);
});

test("bad input 80: the nonce of another attempt makes the file stale", () => {
  expect(codeOf('{"verdict":"SHIP","nonce":"a"}', "a")).toBe("ok");
  expect(codeOf('{"verdict":"SHIP","nonce":"b"}', "a")).toBe("verdict_stale");
});
