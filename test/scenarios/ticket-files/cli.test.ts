// `passrail ticket …` as people and scripts call it: the real program on real files.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Bench, openBench } from "../cli/bench.ts";
import { file } from "./folder.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

const ticket = (...args: readonly string[]) => bench.passrail(["ticket", ...args]);
const path = (name: string) => join(bench.project, "feature_requests", name);
const read = (name: string) => readFileSync(path(name), "utf8");
function write(name: string, text: string): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

test("a ticket is made, listed with its reason, and shown", async () => {
  expect((await ticket("list")).out).toContain("passrail ticket new");
  expect(await ticket("new", "Log in", "--body", "With OAuth.", "--group", "login")).toMatchObject({
    code: 0,
    out: "Created feature_requests/FR-1/AGI-1.md\n",
  });
  const second = await bench.passrail(
    ["ticket", "new", "Log out", "--depends", "agi-1", "--priority", "2", "--request", "FR-1", "--body", "-", "--json"],
    { input: "From standard input." },
  );
  expect(JSON.parse(second.out)).toEqual({ id: "AGI-2", path: "feature_requests/FR-1/AGI-2.md", request: "FR-1" });
  expect(read("FR-1/AGI-2.md")).toContain('description: "From standard input."\n');
  expect(read("FR-1/AGI-2.md")).toContain("dependsOn: [AGI-1]\npriority: 2\n---\n");
  expect((await ticket("list")).out).toBe(
    "AGI-1\tBacklog\teligible\tLog in\tit can start (Backlog)\nAGI-2\tBacklog\twaits\tLog out\twaits for AGI-1 (Backlog)\n",
  );
  expect((await ticket("list", "--eligible", "--quiet")).out).toBe("AGI-1\n");
  const shown = await ticket("show", "1");
  expect(shown.out).toContain("branch\tfeat/login");
  expect(shown.out).toContain("With OAuth.");
});

test("list tells broken files with their place, after the tickets; JSON has both", async () => {
  write("FR-1/AGI-1.md", file("AGI-1", { status: "Dnoe" }));
  write("FR-1/AGI-2.md", file("AGI-2"));
  const listed = await ticket("list");
  expect(listed).toMatchObject({ code: 0, out: "AGI-2\tBacklog\teligible\tAGI-2\tit can start (Backlog)\n" });
  expect(listed.err).toContain('feature_requests/FR-1/AGI-1.md:5:1: unknown_status: "Dnoe"');
  const json = JSON.parse((await ticket("list", "--json")).out) as { tickets: unknown[]; problems: unknown[] };
  expect(json).toMatchObject({
    tickets: [{ id: "AGI-2", state: "eligible", rank: 0, run: null }],
    problems: [{ code: "unknown_status", ticket: "AGI-1", line: 5 }],
  });
  expect((await ticket("show", "AGI-1")).out).toContain("AGI-1 cannot be read");
});

test("a word moves a ticket, also one whose own word nobody knows", async () => {
  write("FR-1/AGI-1.md", file("AGI-1", { status: "Dnoe" }));
  write("FR-1/AGI-2.md", file("AGI-2", { dependsOn: "AGI-1" }));
  expect(await ticket("move", "AGI-1", "Needs Plan")).toMatchObject({
    code: 0,
    out: "AGI-1: Dnoe → Needs Plan. It starts there when its turn comes: passrail explain AGI-1\n",
  });
  expect(read("FR-1/AGI-1.md")).toBe(file("AGI-1", { status: "Needs Plan" }));
  expect((await ticket("move", "AGI-1", "Done")).out).toContain("AGI-2 no longer waits for it.");
  const wrong = await ticket("move", "AGI-1", "need plan");
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.err).toContain('Did you mean "Needs Plan"?');
  const running = await ticket("move", "AGI-1", "Plan In Progress");
  expect(running).toMatchObject({ code: 2 });
  expect(running.err).toContain("Choose where it starts: Needs Plan");
});

test("dependencies are shown both ways, added and removed, but never in a circle", async () => {
  for (const n of [1, 2, 3]) write(`FR-1/AGI-${n}.md`, file(`AGI-${n}`));
  expect((await ticket("deps", "AGI-2", "--add", "AGI-1")).code).toBe(0);
  expect((await ticket("deps", "AGI-3", "--add", "2")).out).toBe(
    "AGI-3  Backlog  AGI-3\nwaits for:\n  AGI-2  Backlog  AGI-2\n    AGI-1  Backlog  AGI-1\nwaited for by: none\n",
  );
  const circle = await ticket("deps", "AGI-1", "--add", "AGI-3");
  expect(circle).toMatchObject({ code: 1 });
  expect(circle.err).toMatch(/AGI-\d → AGI-\d → AGI-\d → AGI-\d/u);
  expect((await ticket("deps", "AGI-1", "--add", "AGI-1")).err).toContain("code dependency_cycle");
  expect(read("FR-1/AGI-1.md")).toBe(file("AGI-1"));
  await ticket("deps", "AGI-3", "--remove", "AGI-2");
  expect(JSON.parse((await ticket("deps", "AGI-1", "--json")).out)).toEqual({
    id: "AGI-1",
    dependsOn: [],
    dependents: ["AGI-2"],
  });
});

describe("editing", () => {
  const edit = (command: string, ...args: readonly string[]) =>
    bench.passrail(["ticket", "edit", "AGI-1", ...args], { env: { EDITOR: command, VISUAL: "", TMPDIR: bench.dir } });

  test("single keys, and what would keep the ticket from starting is refused", async () => {
    write("FR-1/AGI-1.md", file("AGI-1"));
    expect((await edit("false", "--set", "title=Log in: now", "--set", "priority=3")).code).toBe(0);
    expect(read("FR-1/AGI-1.md")).toBe(file("AGI-1", { title: '"Log in: now"', priority: "3" }));
    const bad = await edit("false", "--set", "group=../x");
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.err).toContain("code invalid_group");
    expect((await edit("false", "--set", "status=Done")).err).toContain("passrail ticket move");
    expect(read("FR-1/AGI-1.md")).not.toContain("group");
  });

  test("in the editor: saved when it can be read, else kept beside", async () => {
    write("FR-1/AGI-1.md", file("AGI-1"));
    expect((await edit("sed -i 's/Do it/Do it well/'")).out).toBe("Changed feature_requests/FR-1/AGI-1.md\n");
    expect(read("FR-1/AGI-1.md")).toContain("Do it well.");
    const broken = await edit("sed -i s/Backlog/backlog/");
    expect(broken).toMatchObject({ code: 1 });
    expect(read("FR-1/AGI-1.md")).toContain("status: Backlog");
    const kept = /your text is kept in (\S+)/u.exec(broken.err)?.[1] ?? "";
    expect(readFileSync(kept, "utf8")).toContain("status: backlog");
    expect((await edit("false")).err).toContain("code editor_failed");
  });

  test("what a run writes while the editor is open is kept", async () => {
    write("FR-1/AGI-1.md", file("AGI-1"));
    const script = join(bench.dir, "editor.mjs");
    const at = JSON.stringify(path("FR-1/AGI-1.md"));
    writeFileSync(
      script,
      `import { readFileSync as r, writeFileSync as w } from "node:fs";
       w(${at}, r(${at}, "utf8").replace("status: Backlog", "status: Research In Progress\\nrun: 1"));
       const own = process.argv[2]; w(own, r(own, "utf8").replace("Do it", "Do it well"));`,
    );
    expect(await edit(`${process.execPath} ${script}`)).toMatchObject({ code: 0 });
    expect(read("FR-1/AGI-1.md")).toContain("status: Research In Progress\nrun: 1\n");
    expect(read("FR-1/AGI-1.md")).toContain("Do it well.");
  });
});

test.each([
  [["show", "AGI-77"], 1, "ticket_not_found", "Did you mean AGI-7?"],
  [["show", "../../etc/passwd"], 1, "ticket_not_found", "passrail ticket list"],
  [["new", " "], 2, "title_missing", ""],
  [["new", "x", "--group", "a b"], 2, "invalid_group", "letters, digits"],
  [["new", "x", "--repo", "file:///etc"], 2, "repo_not_allowed", "tickets.repos"],
  [["new", "x", "--priority", "high"], 2, "invalid_priority", ""],
  [["new", "x", "--depends", "AGI-99"], 1, "ticket_not_found", ""],
  [["new", "x", "--request", "FR-9"], 1, "request_not_found", ""],
  [["list", "--status", "done"], 2, "unknown_status", 'Did you mean "Done"?'],
])("%j ends with %i and code %s", async (args, code, name, hint) => {
  write("FR-1/AGI-7.md", file("AGI-7"));
  const ended = await ticket(...args);
  expect(ended).toMatchObject({ code, out: "" });
  expect(ended.err).toContain(`code ${name}`);
  expect(ended.err).toContain(hint);
  expect(existsSync(path("FR-2"))).toBe(false);
});

test("what stands in a ticket cannot move the cursor", async () => {
  write(
    "FR-1/AGI-1.md",
    file("AGI-1", { title: '"\\e[2J\\u202e evil"', "x\\e]0;t": "1" }).replace("Do it", "\u001b[31mred"),
  );
  for (const args of [["list"], ["show", "AGI-1"], ["deps", "AGI-1"]]) {
    const { out, err } = await ticket(...args);
    expect(out + err).not.toContain("\u001b");
    expect(out + err).not.toContain("\u202e");
  }
});

test("an agent may look but not change", async () => {
  write("FR-1/AGI-1.md", file("AGI-1"));
  const env = { PASSRAIL_MARKER: "x/y" };
  expect((await bench.passrail(["ticket", "list"], { env })).code).toBe(0);
  for (const args of [
    ["new", "x"],
    ["move", "AGI-1", "Done"],
    ["edit", "AGI-1", "--set", "title=x"],
    ["deps", "AGI-1", "--add", "AGI-1"],
  ])
    expect((await bench.passrail(["ticket", ...args], { env })).err).toContain("code operator_only");
});
