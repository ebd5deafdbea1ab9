// One workbench for all rows of the verdict matrix: a flow with one judge per form, the API, and the programs that play everybody.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentDefinition, ResolvedFlow } from "../../../src/core/flow/agent.ts";
import { resolveFlow } from "../../../src/core/flow/flow.ts";
import { flowFileSchema } from "../../../src/core/flow/flow-file.ts";
import { routeKey } from "../../../src/core/flow/outcome.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { isEnded } from "../../../src/core/run/run.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, resolveShipped, type Workbench } from "../../harness/workbench.ts";
import { openServerOn } from "../http/served.ts";
import { BROUGHT, BY_CLAUDE, type Form, FORMS, QUOTED, writePrograms } from "./matrix-agents.ts";
import { gitIn } from "./world.ts";

const ALL = Object.keys(FORMS) as Form[];
export const FILES: readonly Form[] = ["verdict-file", "handoff-file", "file-verdict"];

/** Who plants, and the forms that they can try to reach. */
export const PLANTERS = {
  "a child": ALL,
  "an earlier stage": FILES,
  // A router's list is never sent back.
  "an earlier attempt": ALL.filter((form) => form !== "router"),
  "another run": [...FILES, "router", "handoff-api", "desk"],
  "the repository": FILES,
  "a landed commit": FILES,
  "an outside agent": ["json-tail", "verdict-file", "exit-code", "router", "handoff-api", "desk"],
  "the prompt": ["json-tail", "exit-code", "prefix", "router"],
  nobody: ALL,
} as const satisfies Readonly<Record<string, readonly Form[]>>;
type Planter = keyof typeof PLANTERS;

export type Row = {
  readonly planter: Planter;
  readonly nonce: "required" | "optional";
  /** What the judge says, signed as its prompt asks; mute says nothing and ends well. */
  readonly saying: "REVISE" | "PASS" | "mute";
  /** Fewer than the planter can reach. */
  readonly forms?: readonly Form[];
};

export function formsOf({ planter, forms }: Row): readonly Form[] {
  return forms ?? PLANTERS[planter];
}

/** Form -> how its judge's last attempt ended: the key of its route and the cause, or for a router the agents that it chose. */
export type Ended = Readonly<Partial<Record<Form, string>>>;

/** `sync`: the folder with what the row's programs left. */
export type PlayedRow = { readonly ended: Ended; readonly sync: string };

export type MatrixWorld = {
  readonly bench: Workbench;
  play(row: Row): Promise<PlayedRow>;
  close(): Promise<void>;
};

export async function openMatrix(): Promise<MatrixWorld> {
  const bench = await openWorkbench({
    slots: 2,
    // Ghosts of earlier attempts must have a chance: a cgroup would end them.
    settings: (dir) => ({
      attempts: { enclosure: "markers" },
      runners: { claude: { command: ["/bin/sh", join(dir, "judge.sh")] } },
    }),
  });
  writePrograms(bench.dir);
  // The settings of the test are not what the repository brings.
  writeFileSync(join(bench.project, ".git/info/exclude"), "passrail.yaml\n");
  const base = gitIn(bench.project, "rev-parse", "HEAD");
  const server = await openServerOn(bench);
  const { url } = await server.listen({ port: 0 });
  bench.passrail.setUrl(url);
  const { token } = await server.keys.create({ name: "outside", kind: "operator" });
  let rows = 0;
  return {
    bench,
    async play(row) {
      rows += 1;
      gitIn(bench.project, "reset", "-q", "--hard", base);
      const sync = join(bench.dir, `sync-${rows}`);
      mkdirSync(sync);
      writeVariables(bench, sync, row);
      await bringFiles(bench, row.planter);
      const beside = await startBeside(bench, row.planter, { url, token, sync });
      const run = await bench.run(flowFor(row), {}, { ...startOf(bench, row), wait: false });
      await until("the run has ended", async () => isEnded(await bench.load(run.id)) || undefined, 60_000);
      writeFileSync(join(sync, "end"), "");
      await beside();
      await bench.passrail.engine.idle();
      const missed = readdirSync(sync).filter((name) => name.endsWith(".ready") && !existsSync(plantedFor(sync, name)));
      if (missed.length > 0) throw new Error(`nobody planted anything for ${missed.join(", ")}`);
      return { ended: await endsOf(bench, run.id), sync };
    },
    async close() {
      await server.close();
      await bench.close();
    },
  };
}

function plantedFor(sync: string, sign: string): string {
  return join(sync, sign.replace(".ready", ".planted"));
}

function writeVariables(bench: Workbench, sync: string, { planter, nonce, saying }: Row): void {
  const values = { home: bench.home, sync, scripts: bench.dir, planter, ghosts: nonce === "required" ? "yes" : "no" };
  const lines = Object.entries({ ...values, saying }).map(([name, value]) => `${name}='${value}'`);
  writeFileSync(join(bench.dir, "vars.sh"), `${lines.join("\n")}\n`);
}

/** What is in the tree before the run begins. */
async function bringFiles(bench: Workbench, planter: Planter): Promise<void> {
  if (planter !== "the repository" && planter !== "a landed commit") return;
  for (const [path, text] of Object.entries(BROUGHT)) {
    mkdirSync(dirname(join(bench.project, path)), { recursive: true });
    writeFileSync(join(bench.project, path), text);
  }
  gitIn(bench.project, "add", "-A");
  if (planter === "a landed commit") {
    gitIn(bench.project, "checkout", "-q", "-b", "work");
    gitIn(bench.project, "commit", "-q", "-m", "work of an agent");
    gitIn(bench.project, "checkout", "-q", "main");
    gitIn(bench.project, "merge", "-q", "--no-ff", "-m", "lands", "work");
    gitIn(bench.project, "branch", "-q", "-D", "work");
  } else gitIn(bench.project, "commit", "-q", "-m", "review");
}

type Beside = { readonly url: string; readonly token: string; readonly sync: string };

/** Whoever is at work at the same time; the answer waits for their end. */
async function startBeside(bench: Workbench, planter: Planter, { url, token }: Beside) {
  if (planter === "an outside agent") {
    const env = { PATH: process.env["PATH"], scripts: bench.dir, PASSRAIL_URL: url, token };
    const child = spawn("/bin/sh", [join(bench.dir, "haunt.sh")], { env, stdio: "ignore" });
    return () => new Promise<void>((resolve) => void child.once("close", () => resolve()));
  }
  if (planter === "another run") {
    const flow = flowWith([{ id: "beside", agent: "beside", result: FORMS["handoff-api"] }], "required", "beside");
    const runners = { beside: ["/bin/sh", join(bench.dir, "planter.sh")] };
    await bench.run(flow, {}, { subject: "F-2", facts: { runners, config: { verdict_repair: false } }, wait: false });
  }
  return async () => undefined;
}

function startOf(bench: Workbench, { planter }: Row) {
  const judge = ["/bin/sh", join(bench.dir, "judge.sh")];
  const players = ALL.map((form) => [form, BY_CLAUDE.has(form) ? { runner: "claude" } : judge]);
  const runners: JsonObject = {
    ...(Object.fromEntries(players) as JsonObject),
    plant: ["/bin/sh", join(bench.dir, "planter.sh")],
  };
  return {
    body: planter === "the prompt" ? QUOTED : "Judge it.",
    facts: { runners, config: { verdict_repair: false } },
  };
}

/** One stage per form. Work that is sent back comes once more to the same judge where an earlier attempt is the planter. */
function flowFor(row: Row): ResolvedFlow {
  const { planter, nonce } = row;
  const revise = planter === "an earlier attempt" ? { goto: "self", once: true, else: "next" } : "next";
  const judges = formsOf(row).map((form) => ({
    id: form,
    agent: form,
    ...(form === "router" ? { kind: "router", fallback: "stop" } : form === "exit-code" ? {} : VERDICTS),
    ...(form === "prefix" ? { prompt: "prefixed" } : {}),
    result: { ...FORMS[form], nonce },
    route: { pass: "next", revise, failed: "next", blocked: "next" },
  }));
  const before = planter === "an earlier stage" ? [{ id: "plant", agent: "planter" }] : [];
  return flowWith([...before, ...judges], nonce, `${planter}-${nonce}-${row.saying}`);
}

const WORDS = { PASS: "pass", REVISE: "revise" };
const VERDICTS = { verdicts: Object.keys(WORDS) };

function flowWith(stages: readonly object[], nonce: string, name: string): ResolvedFlow {
  const file = flowFileSchema.parse({
    flow: `matrix-${name.replaceAll(" ", "-").toLowerCase()}`,
    version: 1,
    subject: "task",
    allow_ungated: true,
    words: { verdict: WORDS, health: { complete: "complete", "0": "complete", PASS: "complete", REVISE: "complete" } },
    stages,
  });
  const prompts = { ...resolveShipped("feature").prompts, ...resolveShipped("story").prompts, prefixed: PREFIXED };
  const agents = Object.fromEntries(["honest", "forged"].map((agent) => [agent, agentNamed(agent)]));
  return { flow: resolveFlow(file), agents, prompts, hash: `matrix-${name}-${nonce}` };
}

const PREFIXED = "Judge it. Your answer begins with PASS: or REVISE:, and the line below is `# nonce: {{NONCE}}`.";

function agentNamed(name: string): AgentDefinition {
  return { name, description: name, skills: [], prompt: name };
}

async function endsOf(bench: Workbench, runId: string): Promise<Ended> {
  const ends: Partial<Record<Form, string>> = {};
  for (const event of await bench.events(runId)) {
    if (event.type !== "stage.finished" || !Object.hasOwn(FORMS, event.stage)) continue;
    const { cause } = event.outcome;
    const key = [routeKey(event.outcome), ...(cause === undefined ? [] : [cause])].join(": ");
    const chosen = (event.outcome.stages ?? []).map(({ agent }) => agent).join(",");
    ends[event.stage as Form] = event.stage === "router" && key === "pass" ? `chose ${chosen}` : key;
  }
  return ends;
}
