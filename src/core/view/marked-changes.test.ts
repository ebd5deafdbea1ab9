import { describe, expect, test } from "vitest";
import { markedChanges, markedSentence } from "./marked-changes.ts";

describe("S10: files that decide what runs later are marked", () => {
  const rows = [
    ["passrail.yaml", "passrail"],
    [".passrail/prompts/a/b.md", "passrail"],
    [".claude/agents/x.md", "passrail"],
    [".Passrail/flows/x.yaml", "passrail"],
    [".github/workflows/ci.yml", "ci"],
    [".GitHub/Workflows/ci.yml", "ci"],
    ["sub/.gitlab-ci.yml", "ci"],
    ["Jenkinsfile", "ci"],
    [".gitattributes", "hooks"],
    ["lib/.gitattributes", "hooks"],
    [".husky/pre-commit", "hooks"],
    [".gitmodules", "submodule"],
    [".claude/settings.json", "agent"],
    [".mcp.json", "agent"],
    ["AGENTS.md", "agent"],
    ["web/package-lock.json", "lockfile"],
    ["Cargo.lock", "lockfile"],
  ] as const;
  test.each(rows)("%s is %s", (path, kind) => {
    expect(markedChanges([{ path }])).toMatchObject([{ path, kind }]);
  });

  test.each(["src/passrail.yaml.ts", "docs/passrail.yaml.md", "src/github/workflows.ts", "README.md", "lock.ts"])(
    "%s is not",
    (path) => expect(markedChanges([{ path, mode: "100644" }])).toEqual([]),
  );

  test("a submodule is known by its mode; the list is sorted by importance, each path once", () => {
    const marked = markedChanges([
      { path: "yarn.lock" },
      { path: "vendor/lib", mode: "160000" },
      { path: "passrail.yaml" },
      { path: "passrail.yaml" },
    ]);
    expect(marked.map(({ kind }) => kind)).toEqual(["passrail", "submodule", "lockfile"]);
    expect(marked.map(markedSentence)[0]).toMatch(/^passrail\.yaml decides what Passrail runs/u);
  });
});
