import { expect, test } from "vitest";
import { readSettings } from "./settings.ts";

const read = (environment: Record<string, string>, project?: unknown) =>
  readSettings({ environment, project, user: undefined, flags: {} });

test("R-004-45: MERGE_MODE is auto, merge or pr; the environment wins over the file, and auto is the default", () => {
  expect(read({})).toMatchObject({ ok: true, value: { merge: { mode: { value: "auto", from: "default" } } } });
  for (const mode of ["auto", "merge", "pr"])
    expect(read({ MERGE_MODE: mode }, { merge: { mode: "pr" } })).toMatchObject({
      ok: true,
      value: { merge: { mode: { value: mode, from: "environment" } } },
    });
  expect(read({}, { merge: { mode: "pr" } })).toMatchObject({ ok: true, value: { merge: { mode: { value: "pr" } } } });
});

test("R-004-45: any other mode is an error at the start that names the modes", () => {
  for (const mode of ["fast", "AUTO", "push", " pr"])
    expect(read({ MERGE_MODE: mode })).toMatchObject({
      ok: false,
      error: { code: "invalid_setting", message: expect.stringContaining("auto, merge, pr") },
    });
});

test("what settings leave out has its default; a check is a list, never a line for a shell", () => {
  expect(read({}, { merge: { checks: [["npm", "test"]], poll: "5s" } })).toMatchObject({
    ok: true,
    value: {
      merge: { checks: [["npm", "test"]], pollMs: 5000, strategy: "rebase", deleteBranch: false, target: null },
    },
  });
  expect(read({}, { merge: { checks: ["npm test"] } })).toMatchObject({ ok: false });
  expect(read({}, { merge: { remote: "--upload-pack=x" } })).toMatchObject({ ok: false });
});
