// A real Passrail in a temporary folder: store file, git repository, command runner, scripted programs as agents. Only the agents are
// played (test/fixtures/player/played.mjs).

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runIdOf } from "../../src/app/run-id.ts";
import type { Performer } from "../../src/compose.ts";
import type { ResolvedFlow } from "../../src/core/flow/agent.ts";
import type { Actor, RunEvent } from "../../src/core/run/event.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { type InboxItem, openItems, type Run } from "../../src/core/run/run.ts";
import type { Delivered } from "../../src/engine/runs.ts";
import type { Notice } from "../../src/notify/notify.ts";
import { newRepository } from "./new-repository.ts";
import { openPerformer } from "./open-performer.ts";
import { playerOf } from "./player.ts";
import { resolveShipped } from "./shipped-catalog.ts";
import { dropStore, storeEnvironment } from "./test-store.ts";

export { resolveShipped };

export type Script = Readonly<Record<string, readonly JsonObject[]>>;

export type Workbench = {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  readonly notices: Notice[];
  readonly errors: unknown[];
  passrail: Performer;
  /** Starts a run of a flow with scripted agents and waits until nothing more happens. */
  run(
    flow: string | ResolvedFlow,
    script: Script,
    options?: { facts?: JsonObject; subject?: string; title?: string; body?: string; wait?: boolean },
  ): Promise<Run>;
  answer(run: Run, kind: InboxItem["kind"], answer: string, text?: string, actor?: Actor): Promise<Delivered>;
  load(runId: string): Promise<Run>;
  events(runId: string): Promise<readonly RunEvent[]>;
  /** Closes and opens again, as a restart would. */
  restart(how?: "end" | "leave"): Promise<void>;
  close(): Promise<void>;
};

export async function openWorkbench(
  options: {
    slots?: number;
    workspace?: "in-place" | "worktree";
    settings?: (dir: string) => JsonObject;
    /** Questions of agents wait for an answer in place, as with a daemon. */
    answersInPlace?: boolean;
    environment?: Readonly<Record<string, string>>;
    /** Repositories that a test has made itself, and the environment in which they are reached. */
    place?: { readonly dir: string; readonly project: string; readonly environment?: Performer["environment"] };
  } = {},
): Promise<Workbench> {
  const dir = options.place?.dir ?? realpathSync(mkdtempSync(join(tmpdir(), "passrail-test-")));
  const home = join(dir, "home");
  const project = options.place?.project ?? newRepository(dir);
  // YAML is a superset of JSON.
  if (options.settings !== undefined)
    writeFileSync(join(project, "passrail.yaml"), JSON.stringify(options.settings(dir)));
  const notices: Notice[] = [];
  const errors: unknown[] = [];
  const open = async (): Promise<Performer> =>
    openPerformer({
      home,
      project,
      // The settings of the person at this machine are not read, and never written.
      environment: {
        ...(options.place?.environment ?? {
          ...process.env,
          XDG_CONFIG_HOME: join(dir, "config"),
          ...options.environment,
        }),
        ...(await storeEnvironment(home)),
      },
      flags: { slots: String(options.slots ?? 3) },
      answersInPlace: options.answersInPlace === true,
      onError: (_runId, error) => errors.push(error),
      notifier: { notify: async (notice) => notices.push(notice) > 0 },
    });
  const bench: Workbench = {
    dir,
    home,
    project,
    notices,
    errors,
    passrail: await open(),
    async run(
      flow,
      script,
      { facts = {}, subject = "F-1", title = `Do ${subject}`, body = "All of it.", wait = true } = {},
    ) {
      const runId = runIdOf();
      const scriptFile = join(dir, `${runId}.json`);
      writeFileSync(scriptFile, JSON.stringify(script));
      const config = {
        project,
        workspace: options.workspace ?? "worktree",
        ...(facts["config"] as JsonObject | undefined),
      };
      const { run } = await bench.passrail.engine.startRun({
        runId,
        resolved: typeof flow === "string" ? resolveShipped(flow) : flow,
        subject: { id: subject, title, body },
        facts: {
          ...facts,
          config,
          runners: {
            "*": playerOf(scriptFile),
            ...routerByRules(script),
            ...(facts["runners"] as JsonObject | undefined),
          },
        },
        actor: "human:tester",
      });
      if (!wait) return run;
      await bench.passrail.engine.idle();
      return bench.load(runId);
    },
    async answer(run, kind, answer, text = "", actor = "human:tester") {
      const item = openItems(run).find((open) => open.kind === kind);
      if (item === undefined) throw new Error(`no open ${kind}: ${JSON.stringify(openItems(run))}`);
      const delivery = await bench.passrail.engine.deliver(
        run.id,
        { type: "item.answered", number: item.number, kind, answer, text },
        actor,
      );
      await bench.passrail.engine.idle();
      return delivery;
    },
    async load(runId) {
      const stored = await bench.passrail.store.loadRun(runId);
      if (stored === undefined) throw new Error(`no run ${runId}`);
      return stored.run;
    },
    async events(runId) {
      return (await bench.passrail.store.events({ after: 0, runId, limit: 10_000 })).map(({ event }) => event);
    },
    async restart(how) {
      await bench.passrail.close(how);
      bench.passrail = await open();
    },
    async close() {
      await bench.passrail.close();
      await dropStore(home);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return bench;
}

/** A script that does not play the router leaves it to the rules. */
function routerByRules(script: Script): JsonObject {
  return script["route"] === undefined && script["*"] === undefined ? { route: [] } : {};
}

/** The verdict of each finished attempt, in order: "qa:REVISE". */
export function verdictsOf(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== "stage.finished") return [];
    const { health, verdict, word } = event.outcome;
    return [`${event.stage}:${word ?? (health === "complete" ? verdict : health)}`];
  });
}

/** The source's status words in the order in which they were shown. */
export function wordsOf(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === "run.created" ? [event.word] : event.type === "status.changed" ? [event.to] : [],
  );
}
