// Source 004, from a request to ticket files: real processes that begin their output with QUESTIONS: or TICKETS:.

import { mkdirSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { each } from "../../harness/handoff-text.ts";
import { openWorkbench, verdictsOf, type Workbench, wordsOf } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const says = (text: string) => ({ via: "text", text });
const asks = (...questions: string[]) =>
  says(`QUESTIONS:\n${questions.map((text, i) => `${i + 1}. ${text}`).join("\n")}`);
const ONE = says(
  'TICKETS:\n- title: "Users"\n  description: |\n    All about users.\n  repo: "org/app"\n  dependsOn: []',
);
const root = () => join(bench.project, "feature_requests");
const files = () => {
  if (!existsSync(root())) return [];
  const folders = readdirSync(root()).filter((name) => name.startsWith("FR-"));
  return folders
    .flatMap((name) =>
      readdirSync(join(root(), name)).flatMap((file) => (file.startsWith("AGI-") ? [`${name}/${file}`] : [])),
    )
    .sort();
};
const ticket = (path: string) =>
  parse(readFileSync(join(root(), path), "utf8").split("---\n")[1] ?? "") as Record<string, unknown>;
const prompt = (runId: string, attempt: number) =>
  readFileSync(join(bench.home, "runs", runId, `spec-${attempt}`, "prompt.md"), "utf8");
const outcomeOf = async (runId: string, stage: string) =>
  (await bench.events(runId)).findLast((event) => event.type === "stage.finished" && event.stage === stage);

test("R-004-20, R-004-26, R-004-29: a request becomes ticket files, and the run says which", async () => {
  const run = await bench.run("intake", each("spec", ONE));
  expect(run).toMatchObject({ status: "completed", word: "Done" });
  expect(files()).toEqual(["FR-1/AGI-1.md"]);
  expect(ticket("FR-1/AGI-1.md")).toEqual({
    id: "AGI-1",
    title: "Users",
    description: "All about users.",
    repo: "org/app",
    status: "Backlog",
    dependsOn: [],
  });
  expect(await outcomeOf(run.id, "write")).toMatchObject({
    outcome: {
      summary: "Created 1 ticket(s):\nfeature_requests/FR-1/AGI-1.md",
      payload: { paths: ["feature_requests/FR-1/AGI-1.md"] },
    },
  });
  expect(prompt(run.id, 1)).toContain("All of it.");
  expect(bench.errors).toEqual([]);
});

test("R-004-21: questions are asked, the answers go to the next call, and no earlier answer is forgotten", async () => {
  let run = await bench.run("intake", each("spec", asks("Which database?", "Which users?"), asks("Which port?"), ONE));
  expect(run).toMatchObject({ status: "waiting", word: "Needs Human Decision" });
  expect(run.tracks["main"]).toMatchObject({
    item: { kind: "question", questions: ["Which database?", "Which users?"] },
  });
  expect(files()).toEqual([]);
  await bench.answer(run, "question", "", "SQLite; admins");
  run = await bench.load(run.id);
  expect(run.tracks["main"]).toMatchObject({ item: { questions: ["Which port?"] } });
  expect(prompt(run.id, 2)).toMatch(/Which database\?[\s\S]*SQLite; admins/u);
  await bench.answer(run, "question", "", "8080");
  expect(await bench.load(run.id)).toMatchObject({ status: "completed", counters: { clarify: { loops: 2 } } });
  expect(prompt(run.id, 3)).toMatch(/Which port\?[\s\S]*8080/u);
  expect(prompt(run.id, 3)).toMatch(/Which database\?[\s\S]*SQLite; admins[\s\S]*Which port\?/u);
  expect(files()).toEqual(["FR-1/AGI-1.md"]);
});

test("R-004-21: more than five questions in a round are cut to five, with a warning", async () => {
  const run = await bench.run("intake", each("spec", asks("a?", "b?", "c?", "d?", "e?", "f?")));
  expect(run.tracks["main"]).toMatchObject({ item: { questions: ["a?", "b?", "c?", "d?", "e?"] } });
  expect((await bench.events(run.id)).filter(({ type }) => type === "warning.raised")).toHaveLength(1);
});

test("R-004-22: after three rounds one last call must assume and write", async () => {
  let run = await bench.run("intake", each("spec", asks("1?"), asks("2?"), asks("3?"), ONE));
  for (let round = 1; round <= 3; round++) {
    expect(run.status).toBe("waiting");
    await bench.answer(run, "question", "", `answer ${round}`);
    run = await bench.load(run.id);
  }
  expect(verdictsOf(await bench.events(run.id))).toEqual([
    ...Array<string>(3).fill("spec:QUESTIONS"),
    "spec:TICKETS",
    "write:pass",
  ]);
  expect(prompt(run.id, 3)).not.toContain("No more questions");
  expect(prompt(run.id, 4)).toContain("No more questions");
  expect(files()).toEqual(["FR-1/AGI-1.md"]);
});

test("R-004-22: a last call that still does not write stops the run, and no file is written", async () => {
  let run = await bench.run("intake", each("spec", asks("again?")));
  for (let round = 1; round <= 3; round++) {
    await bench.answer(run, "question", "", "no idea");
    run = await bench.load(run.id);
  }
  expect(run).toMatchObject({ status: "stopped", word: "Blocked", stages: { spec: { attempts: 4 } } });
  expect(existsSync(root())).toBe(false);
  expect(bench.notices.filter(({ event }) => event === "stopped")).toHaveLength(1);
});

test("R-004-24: free text uses up a round with a reminder of the form and never becomes a ticket", async () => {
  const free = says("Sure! Here is my plan:\n- title: x");
  const run = await bench.run("intake", each("spec", free, free, free, free, free));
  expect(run).toMatchObject({
    status: "stopped",
    word: "Blocked",
    stages: { spec: { attempts: 4 } },
    counters: { clarify: { loops: 3 } },
  });
  expect(prompt(run.id, 1)).not.toContain("could not be read");
  for (const attempt of [2, 3, 4]) expect(prompt(run.id, attempt)).toContain("Your last answer could not be read");
  expect(files()).toEqual([]);
});

test("R-004-24: free text, then tickets", async () => {
  const run = await bench.run("intake", each("spec", says("Let me think"), ONE));
  expect(run).toMatchObject({ status: "completed", counters: { clarify: { loops: 1 } } });
  expect(files()).toEqual(["FR-1/AGI-1.md"]);
});

test("R-004-23: blank lines, a code fence and flow style are read; the list is real YAML", async () => {
  const text =
    "\n\nTICKETS:\n```yaml\n- {title: \"A: b\", description: x, dependsOn: []}\n- title: plain words\n  description: 'quo''ted'\n```\n";
  const run = await bench.run("intake", each("spec", says(text)));
  expect(run.status).toBe("completed");
  expect(ticket("FR-1/AGI-1.md")).toMatchObject({ title: "A: b", description: "x", repo: basename(bench.project) });
  expect(ticket("FR-1/AGI-2.md")).toMatchObject({ title: "plain words", description: "quo'ted" });
});

test.each([
  ["is no list", "TICKETS:\ntitle: x"],
  ["is not YAML", 'TICKETS:\n- title: "x\n  description: [}'],
  ["is empty", "TICKETS:\n[]"],
  ["has an item without a title", 'TICKETS:\n- title: "fine"\n- description: nothing'],
  ["depends on what it does not have (R-004-31)", 'TICKETS:\n- title: "a"\n- title: "b"\n  dependsOn: ["#3"]'],
  ["depends on itself (R-004-31)", 'TICKETS:\n- title: "a"\n  dependsOn: ["#1"]'],
  ["has an id that no agent can know (R-004-31)", 'TICKETS:\n- title: "a"\n  dependsOn: ["AGI-7"]'],
])("R-004-23: a list that %s is asked for once more, then writes nothing", async (_, text) => {
  const run = await bench.run("intake", each("spec", says(text)));
  expect(run).toMatchObject({ status: "stopped", word: "Blocked" });
  expect(run.stages["write"]).toBeUndefined();
  expect(files()).toEqual([]);
  const repair = readFileSync(join(bench.home, "runs", run.id, "spec-1", "repair-prompt.md"), "utf8");
  expect(repair).toContain("was not accepted because");
});

test("R-004-23: a list that is right the second time is written", async () => {
  const run = await bench.run("intake", each("spec", { ...says("TICKETS:\nnothing"), repair: ONE }));
  expect(run.status).toBe("completed");
  expect(files()).toEqual(["FR-1/AGI-1.md"]);
});

test("R-004-27: numbers go on from the highest, numerically, over all folders; gaps stay", async () => {
  for (const [folder, file] of [
    ["FR-9", "AGI-12.md"],
    ["FR-10", "AGI-3.md"],
    ["other", "AGI-99.txt"],
  ] as const) {
    mkdirSync(join(root(), folder), { recursive: true });
    writeFileSync(join(root(), folder, file), "---\nid: x\n---\n");
  }
  const run = await bench.run("intake", each("spec", says('TICKETS:\n- title: "a"\n- title: "b"')));
  expect(run.status).toBe("completed");
  expect(files()).toEqual(["FR-10/AGI-3.md", "FR-11/AGI-13.md", "FR-11/AGI-14.md", "FR-9/AGI-12.md"]);
});

test("R-004-27: intakes at once never share a number", async () => {
  const two = each("spec", says('TICKETS:\n- title: "a"\n- title: "b"\n  dependsOn: ["#1"]'));
  const runs = await Promise.all([1, 2, 3, 4].map(() => bench.run("intake", two, { wait: false })));
  await bench.passrail.engine.idle();
  for (const run of runs) expect(await bench.load(run.id)).toMatchObject({ status: "completed" });
  const numbers = files().map((path) => path.split("/")[1]);
  expect(new Set(numbers).size).toBe(8);
  expect(new Set(files().map((path) => path.split("/")[0]))).toEqual(new Set(["FR-1", "FR-2", "FR-3", "FR-4"]));
  for (const path of files()) {
    const { id, dependsOn } = ticket(path);
    expect(path).toContain(`/${String(id)}.md`);
    if ((dependsOn as string[]).length > 0)
      expect(files()).toContain(`${path.split("/")[0]}/${(dependsOn as string[])[0]}.md`);
  }
  expect(readdirSync(root()).filter((name) => name.startsWith(".draft"))).toEqual([]);
});

test("R-004-26, R-004-30, R-004-31, R-004-32: variants share one FR folder and a group, and #1 becomes an id", async () => {
  mkdirSync(join(root(), "FR-1"), { recursive: true });
  writeFileSync(join(root(), "FR-1", "AGI-6.md"), "---\nid: AGI-6\n---\n");
  const text = `TICKETS:
- title: "OAuth"
  description: first
  group: "Login Auth!"
  variantHint: "Variant 1 of 2: OAuth"
  dependsOn: []
- title: "Email"
  description: second
  group: "Login Auth!"
  variantHint: "Variant 2 of 2: Email"
  dependsOn: ["#1"]`;
  await bench.run("intake", each("spec", says(text)));
  expect(files()).toEqual(["FR-1/AGI-6.md", "FR-2/AGI-7.md", "FR-2/AGI-8.md"]);
  expect(ticket("FR-2/AGI-7.md")).toMatchObject({
    group: "login-auth",
    variantHint: "Variant 1 of 2: OAuth",
    dependsOn: [],
  });
  expect(ticket("FR-2/AGI-8.md")).toMatchObject({
    group: "login-auth",
    variantHint: "Variant 2 of 2: Email",
    dependsOn: ["AGI-7"],
  });
});

test("the words that a request shows on its way are words of tickets", async () => {
  let run = await bench.run("intake", each("spec", asks("a?"), ONE));
  await bench.answer(run, "question", "", "yes");
  run = await bench.load(run.id);
  expect(wordsOf(await bench.events(run.id))).toEqual(["Backlog", "Needs Human Decision", "Done"]);
});
