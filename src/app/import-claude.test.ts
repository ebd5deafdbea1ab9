import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadCatalog } from "../catalog/catalog.ts";
import { shippedDir } from "../settings/site.ts";
import { performImport, planImport } from "./import-claude.ts";

let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "passrail-import-")));
  mkdirSync(join(project, ".claude/agents"), { recursive: true });
  mkdirSync(join(project, ".claude/commands"), { recursive: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const agent = (name: string, matter: string, body = "Do it.") =>
  writeFileSync(join(project, ".claude/agents", `${name}.md`), `---\n${matter}---\n\n${body}\n`);

function plan() {
  const planned = planImport(project);
  if (!planned.ok) throw new Error(planned.error.message);
  return planned.value;
}

test("a plan changes nothing; its files are agents that Passrail reads, and say what differs", () => {
  agent(
    "developer",
    "name: developer\ndescription: Use it when: code must change, e.g. a bug\ntools: Read, Edit, Bash, Frobnicate\nmodel: gpt-9\n",
  );
  agent("critic", "name: critic\ndescription: Reads code\ntools: Read, Grep, Glob\n");
  agent("broken", "name: Not A Name!\n");
  writeFileSync(join(project, ".claude/commands/ship.md"), "Use TeamCreate and build $ARGUMENTS.\n");
  const { steps } = plan();
  expect(existsSync(join(project, ".passrail"))).toBe(false);
  expect(steps.map(({ from, to, act }) => [from, to, act])).toEqual([
    [".claude/agents/broken.md", "", "skip"],
    [".claude/agents/critic.md", ".passrail/agents/critic.md", "write"],
    [".claude/agents/developer.md", ".passrail/agents/own-developer.md", "write"],
    [".claude/commands/ship.md", ".passrail/notes/command-ship.md", "write"],
  ]);
  const notes = steps.map((step) => step.notes.join("\n"));
  expect(notes[0]).toContain("cannot be the name of an agent");
  expect(notes[1]).toContain("may not write files");
  expect(notes[2]).toContain('Passrail ships an agent "developer"');
  expect(notes[2]).toContain("Frobnicate");
  expect(notes[2]).toContain("gpt-9");
  expect(notes[3]).toContain("$ARGUMENTS");

  expect(performImport(plan())).toMatchObject({ ok: true, value: { length: 3 } });
  rmSync(join(project, ".claude/agents"), { recursive: true });
  const { agents, problems } = loadCatalog({ shippedDir, projectDir: project }).agents();
  expect(problems).toEqual([]);
  expect(agents.get("own-developer")).toMatchObject({
    description: "Use it when: code must change, e.g. a bug",
    isRouted: true,
    prompt: "Do it.",
    model: "gpt-9",
    options: { tools: ["Read", "Edit", "Bash", "Frobnicate"] },
  });
  expect(agents.get("developer")?.origin).toBe("shipped");
  expect(agents.get("critic")?.options).toMatchObject({ tools: ["Read", "Grep", "Glob"] });
});

test("a second import changes nothing, and a file that a person changed stays", () => {
  agent("critic", "name: critic\ndescription: Reads code\n");
  performImport(plan());
  expect(plan().steps).toMatchObject([{ act: "same" }]);
  const file = join(project, ".passrail/agents/critic.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\nMore rules.\n`);
  expect(plan().steps).toMatchObject([{ act: "skip", notes: [expect.stringContaining("stays as it is")] }]);
  expect(performImport(plan())).toEqual({ ok: true, value: [] });
  expect(readFileSync(file, "utf8")).toContain("More rules.");
});

test("links lead nowhere: neither into nor out of the project", () => {
  const outside = mkdtempSync(join(tmpdir(), "passrail-outside-"));
  try {
    writeFileSync(join(outside, "secret.md"), "---\nname: secret\n---\nkey\n");
    symlinkSync(join(outside, "secret.md"), join(project, ".claude/agents/secret.md"));
    agent("critic", "name: critic\ndescription: Reads code\n");
    symlinkSync(outside, join(project, ".passrail"));
    expect(plan().steps.map(({ from }) => from)).toEqual([".claude/agents/critic.md"]);
    expect(performImport(plan())).toMatchObject({ ok: false });
    expect(existsSync(join(outside, "agents"))).toBe(false);
  } finally {
    rmSync(outside, { recursive: true });
  }
});

test("a project without Claude's files is told where it looked", () => {
  expect(planImport(project)).toMatchObject({ ok: false, error: { code: "nothing_to_import" } });
});
