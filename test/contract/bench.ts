// A place to drive one real agent CLI: scripted models, a desk, a home and workspaces of its own. All of it goes with `close`.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { findMarked } from "../../src/runner/process/process-table.ts";
import type { Overrides } from "../../src/runner/runner.testsuite.ts";
import type {
  AgentEvent,
  AgentSpec,
  AttemptEnd,
  AttemptSpec,
  PermissionDecision,
  PermissionRequest,
  Runner,
  Session,
} from "../../src/runner/runner.ts";
import type { AgentOptions } from "../../src/core/flow/agent-options.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { DeskAnswer } from "../../src/runner/desk/desk.ts";
import { createDesk } from "../../src/runner/desk/server.ts";
import type { Scenario, Script } from "../fixtures/models/scenario.ts";
import { type FakeModels, type ModelRequest, startFakeModels } from "../fixtures/models/server.ts";
import { until } from "../harness/until.ts";
import { cliPath } from "./installed.ts";
import type { Vendor } from "./vendors.ts";
import { optional } from "../../src/core/optional.ts";

/** Also what a model prints in a test, so it looks like nothing else. */
export const API_KEY = "sk-ant-api03-Zq8LmTvXwYpRbNcKdFgHjSaQeWuIoP1234567890";

export const VERDICT_SCHEMA: JsonObject = {
  type: "object",
  properties: { verdict: { type: "string", enum: ["APPROVED", "REVISE"] }, summary: { type: "string" } },
  required: ["verdict"],
  additionalProperties: false,
};

export type Ask = {
  readonly prompt: string;
  readonly session?: Session;
  readonly options?: Partial<AgentOptions>;
  readonly agent?: Partial<AgentSpec>;
  readonly overrides?: Overrides;
  /** With a desk: what it answers to a submission that fits the schema. */
  readonly submit?: (text: string) => Promise<DeskAnswer>;
  /** Who decides what the program does not decide itself; without it nobody. */
  readonly permit?: (request: PermissionRequest) => Promise<PermissionDecision>;
};

export type Running = {
  readonly spec: AttemptSpec;
  readonly end: Promise<AttemptEnd>;
  readonly events: readonly AgentEvent[];
  cancel(): void;
};

export type Bench = Awaited<ReturnType<typeof openBench>>;

export async function openBench(vendor: Vendor, create: () => Runner) {
  const folder = mkdtempSync(join(tmpdir(), `passrail-contract-${vendor.cli}-`));
  const models: FakeModels = await startFakeModels({ scenario: { rules: [] } });
  const desk = createDesk();
  let homes = 0;
  let attempts = 0;

  /** A home of its own, in which the program is pointed at these models. */
  const environment = (modelsUrl: string): Readonly<Record<string, string>> => {
    homes += 1;
    const home = join(folder, `home-${homes}`);
    mkdirSync(home);
    return {
      PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
      HOME: home,
      LANG: "C.UTF-8",
      TERM: "dumb",
      SHELL: "/bin/bash",
      ...vendor.setUp(home, modelsUrl, API_KEY),
    };
  };
  const env = environment(models.url);

  const workspace = (): string => {
    attempts += 1;
    const path = join(folder, `workspace-${attempts}`);
    mkdirSync(path);
    return path;
  };

  const spec = ({ prompt, session, options, agent, overrides }: Ask): AttemptSpec => {
    const cwd = overrides?.cwd ?? workspace();
    attempts += 1;
    const scratch = join(folder, `scratch-${attempts}`);
    mkdirSync(scratch);
    return {
      marker: `contract-${process.pid}-${vendor.cli}-${folder.slice(-6)}-${attempts}-`,
      argv: [cliPath(vendor.cli)],
      cwd,
      prompt,
      env,
      outputPath: join(folder, `output-${attempts}.log`),
      agent: {
        options: { model: vendor.model, permission: "edit", mcpServers: {}, teams: false, ...options },
        ...optional({ session }),
        scratch,
        folders: [],
        repositorySettings: false,
        ...agent,
      },
      ...overrides,
      limits: { totalMs: 60_000, outputBytes: 4_000_000, graceMs: 5_000, ...overrides?.limits },
    };
  };

  const start = (ask: Ask): Running => {
    const cancel = new AbortController();
    const events: AgentEvent[] = [];
    const whole = spec(ask);
    const hooks = { signal: cancel.signal, onEvent: (event: AgentEvent) => void events.push(event) };
    const end = create().run(whole, { ...hooks, ...optional({ permit: ask.permit }) });
    return { spec: whole, end, events, cancel: () => cancel.abort() };
  };

  /** Runs to the end with a place at the desk, and looks that nothing is left. */
  const run = async (ask: Ask): Promise<AttemptEnd & { spec: AttemptSpec; events: readonly AgentEvent[] }> => {
    const submit = ask.submit ?? (async () => ({ accepted: true, text: "Recorded." }));
    const place = await desk.open({
      verdictSchema: VERDICT_SCHEMA,
      mayAsk: false,
      submit,
      ask: async () => ({ accepted: false, text: "Nobody is here." }),
      ...optional({ permit: vendor.cli === "claude" ? ask.permit : undefined }),
    });
    const permits = place.permits ? { permits: true as const } : {};
    try {
      const running = start({
        ...ask,
        agent: { tools: { url: place.url, token: place.token, ...permits }, ...ask.agent },
      });
      const end = await running.end;
      return { ...end, spec: running.spec, events: running.events };
    } finally {
      place.close();
    }
  };

  return {
    folder,
    models,
    desk,
    environment,
    workspace,
    spec,
    start,
    run,
    /** From now on the models play these scripts, each for prompts with its name in brackets: `[write]`. */
    play: (scripts: Readonly<Record<string, Script>>): void => models.play(toScenario(scripts)),
    /** Requests that played this script, in order. */
    asked: (name: string): ModelRequest[] => models.requests.filter((request) => request.rule === name),
    leftovers: () => findMarked(`contract-${process.pid}-${vendor.cli}-${folder.slice(-6)}-`),
    close: async (): Promise<void> => {
      await desk.close();
      await models.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

const toScenario = (scripts: Readonly<Record<string, Script>>): Scenario => ({
  rules: Object.entries(scripts).map(([name, turns]) => ({ id: name, match: { prompt: `[${name}]` }, turns })),
});

/** Waits until the models were asked for this script. */
export const untilAsked = (bench: Bench, name: string): Promise<ModelRequest> =>
  until(`the models are asked for ${name}`, () => bench.asked(name).at(-1), 30_000);

/** Everything that the user and the model said in a request's transcript. */
export const transcript = ({ conversation }: ModelRequest): string =>
  conversation.entries.map((entry) => (entry.role === "tool" ? entry.results.join("\n") : entry.text)).join("\n");
