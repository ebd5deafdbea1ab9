import { describe, expect, test } from "vitest";
import { notesProblem, type WantedNotes } from "./notes.ts";

const wanted: WantedNotes = {
  file: "docs/spec.md",
  under: "## As-built notes",
  sections: ["Complexity", "Scope boundaries", "Deviations", "Tests added", "Open follow-ups"],
  before: "# Spec\n\nIt shows names.\n",
};
const parts = (marks: (name: string) => string): string =>
  `# Spec\n\nIt shows names.\n\n## As-built notes\n\n${wanted.sections.map(marks).join("\n")}\n`;
const whole = parts((name) => `### ${name}\n\nNone\n`);

describe("R-002-22: as-built notes", () => {
  test.each<[string, string]>([
    ["below headings", whole],
    ["after bold words", parts((name) => `**${name}**: as planned.\n`)],
    ["as a list of bold words", parts((name) => `- **${name}:** as planned`)],
    ["in a code block below the heading", parts((name) => `### ${name}\n\n\`\`\`\nnpm test\n\`\`\`\n`)],
    ["before another section", `${whole}\n## Appendix\n\nMore.\n`],
  ])("are whole %s", (_how, text) => {
    expect(notesProblem(wanted, text)).toBeUndefined();
  });

  test.each<[string, string | null, string]>([
    ["the file is gone", null, "docs/spec.md is not there"],
    ["there is no section", "# Spec\n", 'has no section "## As-built notes"'],
    ["the section is only a quote", whole.replaceAll(/^/gmu, "> "), "has no section"],
    ["the section is only in a code block", `\`\`\`\n${whole}\`\`\`\n`, "has no section"],
    ["there are two", `${whole}\n${whole}`, "2 sections"],
    ["a part is missing", whole.replace("### Tests added", "### Tests"), '"### Tests added"'],
    ["a part is empty", whole.replace("### Deviations\n\nNone", "### Deviations\n"), '"### Deviations"'],
    [
      "a part has only a comment",
      whole.replace("### Deviations\n\nNone", "### Deviations\n\n<!-- later -->"),
      "Deviations",
    ],
    ["a bold word has nothing after it", parts((name) => `**${name}**:\n`), '"### Open follow-ups"'],
    [
      "the parts are below another section",
      whole.replace("## As-built notes", "## As-built notes\n\n## Notes"),
      "Complexity",
    ],
  ])("are refused where %s", (_why, text, said) => {
    expect(notesProblem(wanted, text)).toContain(said);
  });

  test("are refused where they are those of an earlier run, also with other white space", () => {
    const again = notesProblem({ ...wanted, before: whole }, whole.replaceAll("\n\n", "\n\n\n"));
    expect(again).toContain("says what it said before this run");
    const changed = whole.replace("### Deviations\n\nNone", "### Deviations\n\nNames are cut at 80.");
    expect(notesProblem({ ...wanted, before: whole }, changed)).toBeUndefined();
  });

  test("are read in a time that grows with their length", () => {
    const hostile = `${whole}\n${"**".repeat(200_000)}\n${"#".repeat(200_000)}\n${"### Deviations\n".repeat(20_000)}`;
    const began = performance.now();
    notesProblem(wanted, hostile);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
