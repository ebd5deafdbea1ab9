import { expect, test } from "vitest";
import { readYaml } from "../../file/yaml.ts";
import { fileSchema } from "../../settings/settings.ts";
import { settingsText } from "./settings-text.ts";

const read = (text: string): unknown => {
  const yaml = readYaml(text, { file: "passrail.yaml", subject: "settings" });
  if (!yaml.ok) throw new Error(JSON.stringify(yaml.error));
  return fileSchema.parse(yaml.value.value);
};

const proposal = {
  managers: ["npm"],
  checks: [
    { name: "test", run: ["npm", "test"], parse: "vitest" as const, from: "package.json" },
    { name: "lint", run: ["ruff", "check", "."], from: "pyproject.toml" },
    { name: "odd", run: ["true", "a b: #c", "--x"], from: "Makefile" },
  ],
  setup: [["pnpm", "install", "--frozen-lockfile"]],
};

test("the file is valid settings, whatever the words of a command are", () => {
  expect(
    read(settingsText({ editorLine: "# editor", runner: { runner: "codex", version: "1" }, proposal, red: new Map() })),
  ).toEqual({
    runner: "codex",
    checks: {
      test: { run: ["npm", "test"], parse: "vitest" },
      lint: ["ruff", "check", "."],
      odd: ["true", "a b: #c", "--x"],
    },
    workspaces: { setup: [["pnpm", "install", "--frozen-lockfile"]] },
  });
});

test("a check that is red today, and an agent that is not there, are comments", () => {
  const text = settingsText({
    editorLine: "# editor",
    runner: null,
    proposal,
    red: new Map([["lint", "exit code 1"]]),
  });
  expect(text).toContain('# lint: [ruff, check, "."] # it is red before any change: exit code 1');
  expect(Object.keys((read(text) as { checks: object }).checks)).toEqual(["test", "odd"]);
  expect(read(text)).not.toHaveProperty("runner");
});

test("with nothing found the file is all comments, and still a file of settings", () => {
  const text = settingsText({
    editorLine: "# editor",
    runner: null,
    proposal: { managers: [], checks: [], setup: [] },
    red: new Map(),
  });
  expect(text.split("\n").every((line) => line === "" || line.startsWith("#"))).toBe(true);
});
