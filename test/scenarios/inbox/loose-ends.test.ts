// The inbox holds everything that waits for a person, whoever asked: with real runs, real git, and the real program that shows it.

import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { createCommitOf } from "../../../src/app/commit-of.ts";
import { createLooseEnds } from "../../../src/app/loose-ends.ts";
import type { LooseEnd } from "../../../src/core/view/loose-end.ts";
import { announce } from "../../../src/daemon/announce.ts";
import type { Notice } from "../../../src/notify/notify.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { CLI, happyFeature } from "../cli/bench.ts";

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
let bench: Workbench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

async function cli(at: Workbench, ...args: readonly string[]): Promise<string> {
  const { PASSRAIL_MARKER: _marker, ...environment } = process.env;
  const env = { ...environment, PASSRAIL_HOME: at.home, XDG_CONFIG_HOME: join(at.dir, "config") };
  return (await run(process.execPath, [CLI, ...args], { cwd: at.project, env })).stdout;
}

function endsOf(at: Workbench): () => Promise<readonly LooseEnd[]> {
  const { store } = at.passrail;
  const look = createLooseEnds({ home: at.home, project: at.project, store, commitOf: createCommitOf(store) });
  return async () => (await look()).ends;
}

test("finished work and a stopped run wait in the inbox with the commands that settle them, and leave it when they are settled", async () => {
  bench = await openWorkbench();
  const looseEnds = endsOf(bench);
  let feature = await bench.run("feature", happyFeature, { subject: "F-1", title: "Add login" });
  await bench.answer(feature, "gate", "approve");
  feature = await bench.load(feature.id);
  // While a gate asks, the work is no loose end.
  expect(await looseEnds()).toEqual([]);
  await bench.answer(feature, "gate", "approve");
  const story = await bench.run("checklist", { "*": [{ exit: 7 }] }, { subject: "C-1", title: "Check it" });
  expect(story.status).toBe("stopped");

  const ends = await looseEnds();
  expect(ends.map(({ kind, title }) => [kind, title])).toEqual([
    ["merge", "Add login"],
    ["stopped", "Check it"],
  ]);
  const [merge, stopped] = ends;
  expect(merge?.text).toContain("1 commit on passrail/");
  expect(merge?.verbs.map(({ command }) => command)).toEqual(
    expect.arrayContaining(["passrail merge 1", "passrail merge 1 --pr", "passrail discard 1"]),
  );
  expect(stopped?.text).toMatch(/stopped: /u);
  expect(stopped?.since).toBe(story.status === "stopped" ? story.since : "");
  expect(stopped?.verbs[0]).toEqual({
    verb: "again",
    effect: "Runs plan again in a new attempt.",
    command: "passrail runs retry 2",
    act: { do: "retry", stage: "plan" },
  });

  const shown = JSON.parse(await cli(bench, "inbox", "--json")) as { looseEnds: LooseEnd[] };
  expect(shown.looseEnds.map(({ id }) => id)).toEqual([`merge:${feature.id}`, `stopped:${story.id}`]);
  const text = await cli(bench, "inbox");
  expect(text).toContain(`merge:${feature.id}\t#1\tmerge`);
  expect(await cli(bench, "inbox", "--quiet")).toBe("");

  // A person merges by hand, and ends the other run.
  expect(merge?.verbs).toContainEqual(expect.objectContaining({ verb: "look", command: "passrail runs diff 1" }));
  const branch = `passrail/${feature.id}`;
  execFileSync(
    "git",
    ["-c", "user.name=t", "-c", "user.email=t@localhost", "merge", "-q", "--no-ff", "--no-edit", branch],
    {
      cwd: bench.project,
    },
  );
  await bench.passrail.app.controlRun(story.id, { type: "cancel", reason: "no" }, { actor: "human:tester" });
  expect(await looseEnds()).toEqual([]);
  expect(await cli(bench, "inbox", "--json")).toContain('"looseEnds": []');
});

test("files that wait for trust, broken flows and agents, blocked and broken tickets wait there too; each is told once", async () => {
  bench = await openWorkbench();
  const { home, project } = bench;
  const looseEnds = endsOf(bench);
  const notices: Notice[] = [];
  const options = {
    home,
    looseEnds: async () => ({ ends: await looseEnds(), unseen: 0 }),
    notifier: { notify: async (notice: Notice) => notices.push(notice) > 0 },
    onProblem: (error: unknown) => expect.unreachable(String(error)),
  };
  await announce(options);
  expect(notices).toEqual([]);

  mkdirSync(join(project, ".passrail/flows"), { recursive: true });
  mkdirSync(join(project, ".passrail/agents"), { recursive: true });
  writeFileSync(
    join(project, ".passrail/flows/mine.yaml"),
    "flow: mine\nversion: 3\nstages:\n  - { id: a, agent: nobody-knows }\n",
  );
  writeFileSync(join(project, ".passrail/agents/half.md"), "---\nname: half\nmodel: [\n---\nHi.\n");
  const waiting = await looseEnds();
  expect(waiting.find(({ kind }) => kind === "trust")).toMatchObject({
    text: expect.stringContaining(".passrail/flows/mine.yaml"),
    verbs: [{ command: "passrail trust --diff" }, { command: "passrail trust --yes" }],
  });
  await announce(options);
  await announce(options);
  expect(notices.filter(({ event }) => event === "trust")).toHaveLength(1);

  approveFiles(home, project);
  const broken = await looseEnds();
  expect(broken.filter(({ kind }) => kind === "trust")).toEqual([]);
  const files = broken.filter(({ kind }) => kind === "file");
  expect(files.map(({ title }) => title).toSorted()).toEqual([".passrail/agents/half.md", ".passrail/flows/mine.yaml"]);
  expect(files.every(({ since, verbs }) => since !== null && verbs[0]?.command === "passrail flow check")).toBe(true);

  const folder = join(project, "feature_requests/FR-1");
  mkdirSync(folder, { recursive: true });
  const ticket = (id: string, status: string): string =>
    `---\nid: ${id}\ntitle: Work on ${id}\nrepo: project\nstatus: ${status}\n---\nDo it.\n`;
  writeFileSync(join(folder, "AGI-1.md"), ticket("AGI-1", "Blocked"));
  writeFileSync(join(folder, "AGI-2.md"), ticket("AGI-2", "Nedes Plan"));
  const shown = (JSON.parse(await cli(bench, "inbox", "--json")) as { looseEnds: LooseEnd[] }).looseEnds;
  expect(shown.find(({ kind }) => kind === "blocked")).toMatchObject({
    ticket: "AGI-1",
    title: "Work on AGI-1",
    verbs: [{ command: 'passrail ticket move AGI-1 "Needs Implement"' }, {}, {}],
  });
  expect(shown.find(({ id }) => id.endsWith("AGI-2.md"))?.text).toContain("Nedes Plan");
  await cli(bench, "ticket", "move", "AGI-1", "Needs Plan");
  writeFileSync(join(folder, "AGI-2.md"), ticket("AGI-2", "Needs Plan"));
  const after = (JSON.parse(await cli(bench, "inbox", "--json")) as { looseEnds: LooseEnd[] }).looseEnds;
  expect(after.filter(({ ticket: of }) => of !== null)).toEqual([]);
  expect(readFileSync(join(home, "announced.json"), "utf8")).toContain("trust:");
});
