// The demo that the dashboard starts: two runs of the flow `feature` in a scratch repository below the state folder, on the open engine.
// The demo approves the first run's gate at once; the run comes back from QA and then waits to be shipped. The second run waits to be
// started.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadCatalog } from "../catalog/catalog.ts";
import type { Passrail } from "../compose.ts";
import { shippedDir } from "../settings/site.ts";
import type { Actor } from "../core/run/event.ts";
import { err, messageOf, ok, type Result } from "../core/result.ts";
import type { Subject } from "../core/run/run.ts";
import { runIdOf } from "../app/run-id.ts";
import { ANYTHING_GOES } from "./answer.ts";
import { fillProject } from "./world.ts";

export type DemoStart = Pick<Passrail, "app" | "store" | "home"> & {
  /** The user who asked for it, for the record. */
  readonly actor: Actor;
  /** The pause of an agent before it works. */
  readonly thinkMs?: number;
};

const THINK_MS = 2000;
const DEMOS_AT_MOST = 1000;

const FEATURES = [
  {
    title: "Add slugify to the titles library",
    body: "Pages need addresses made from their titles: `Hello World` becomes `hello-world`.\n\nAccents are folded: `Crème Brûlée` becomes `creme-brulee`.",
    begins: true,
  },
  {
    title: "Count the words of a title",
    body: "Editors want to know how long a title is. Approve the start, and the agents begin.",
    begins: false,
  },
] as const;

export async function startDemo(demo: DemoStart): Promise<Result<{ project: string; runIds: readonly string[] }>> {
  const { app, store, home, actor, thinkMs = THINK_MS } = demo;
  const project = join(home, "demo");
  try {
    if (!existsSync(join(project, ".git"))) fillProject(project);
  } catch (error) {
    const hint = (error as { readonly hint?: string }).hint;
    const message = messageOf(error);
    return err({ code: "demo_failed", message, ...(hint === undefined || hint === "" ? {} : { hint }) });
  }
  const resolved = loadCatalog({ shippedDir }).resolve("feature");
  if (!resolved.ok) throw new Error(`the shipped flow feature is not valid: ${resolved.error[0]?.message}`);
  const program = [process.execPath, join(shippedDir, "demo", "feature.mjs"), String(Math.round(thinkMs))];
  const runIds: string[] = [];
  for (const { begins, ...feature } of FEATURES) {
    const subject: Subject = { id: await freeId(store), ...feature };
    const runId = runIdOf();
    const facts = { config: { project, workspace: "worktree" }, runners: { "*": program } };
    const started = await app.startRun({ runId, resolved: resolved.value, subject, facts }, actor);
    if (!started.ok) return started;
    runIds.push(runId);
    const approval = { item: `${runId}.1`, answer: "approve", text: "The demo begins.", issues: [], ...ANYTHING_GOES };
    const answered = begins ? await app.answerItem(approval, { actor }) : started;
    if (!answered.ok) return answered;
  }
  return ok({ project, runIds });
}

/** DEMO-1, DEMO-2 …: the first id without a run. */
async function freeId(store: DemoStart["store"]): Promise<string> {
  for (let number = 1; number < DEMOS_AT_MOST; number++) {
    const id = `DEMO-${number}`;
    if ((await store.runsOf(id)).length === 0) return id;
  }
  return `DEMO-${Date.now()}`;
}
