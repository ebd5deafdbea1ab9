// `passrail agent test`: one tiny attempt with a real runner, in a temporary folder. It shows whether the program is found, starts, is
// logged in, reaches its model, calls our tool and reports its usage. It costs one short answer.

import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttemptEnd, Conversation } from "./runner.ts";
import type { RunnerName } from "../core/flow/agent-options.ts";
import type { JsonObject } from "../core/json.ts";
import type { Usage } from "../core/budget/usage.ts";
import { ok, type Result } from "../core/result.ts";
import { loadSettings } from "../settings/load.ts";
import type { Site } from "../settings/site.ts";
import { openRunners } from "./open.ts";
import type { Runners } from "./runners.ts";
import { optional } from "../core/optional.ts";

type TryStep = { readonly name: string; readonly ok: boolean; readonly detail: string };

export type TryResult = {
  readonly ok: boolean;
  readonly steps: readonly TryStep[];
  readonly durationMs: number;
  readonly usage: Usage | null;
};

const SCHEMA: JsonObject = {
  type: "object",
  properties: { verdict: { type: "string", enum: ["pass"] }, summary: { type: "string" } },
  required: ["verdict", "summary"],
  additionalProperties: false,
};

const PROMPT = `This is a test of the connection between you and Passrail. Do no other work and read no files.
Call the tool submit_verdict of the server passrail once, with verdict "pass" and a summary of at most five words. Then stop.
`;

const LIMITS = { startupMs: 60_000, idleMs: 120_000, totalMs: 180_000, outputBytes: 5 * 1024 * 1024, graceMs: 3000 };

export async function tryRunner(site: Site, runner: RunnerName): Promise<Result<TryResult>> {
  const config = await loadSettings({ ...site, flags: {} });
  if (!config.ok) return config;
  const runners = openRunners(site.environment, config.value);
  try {
    return ok(await makeTry(runners, runner, config.value.agents["*"]?.model ?? config.value.model ?? undefined));
  } finally {
    await runners.desk.close();
  }
}

async function makeTry(runners: Runners, runner: RunnerName, model?: string): Promise<TryResult> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "passrail-try-")));
  const [cwd, scratch] = [join(folder, "work"), join(folder, "scratch")];
  mkdirSync(cwd);
  mkdirSync(scratch, { mode: 0o700 });
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  process.once("SIGINT", interrupt);
  let submitted = false;
  const place = await runners.desk.open({
    verdictSchema: SCHEMA,
    mayAsk: false,
    submit: async () => {
      submitted = true;
      return { accepted: true, text: "Accepted. Stop now." };
    },
    ask: async () => ({ accepted: false, text: "Nobody is asked in a test." }),
  });
  try {
    const options = {
      permission: "read" as const,
      mcpServers: {},
      teams: false,
      maxTurns: 5,
      ...optional({ model }),
    };
    const launch = runners.runnerFor({
      runner,
      command: null,
      transport: null,
      options,
      session: "fresh",
      questions: "deny",
    });
    const end = await launch.runner.run(
      {
        marker: `try/${randomUUID()}`,
        argv: launch.argv,
        cwd,
        prompt: PROMPT,
        env: launch.environment,
        limits: LIMITS,
        outputPath: join(folder, "output.log"),
        redactor: runners.redactor,
        agent: {
          options: launch.options,
          tools: { url: place.url, token: place.token },
          scratch,
          folders: [],
          repositorySettings: false,
        },
      },
      { signal: abort.signal },
    );
    return resultOf(end, submitted);
  } finally {
    process.off("SIGINT", interrupt);
    place.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function resultOf(end: AttemptEnd, submitted: boolean): TryResult {
  const { conversation } = end;
  const started = end.process !== null;
  const failure = conversation?.failure ?? null;
  const endedWell = failure === null && (end.reason === "exited" || end.reason === "finished");
  const steps: TryStep[] = [
    { name: "started", ok: started, detail: started ? versionOf(conversation) : end.detail },
    ...(started ? [{ name: "answered", ok: endedWell, detail: failure?.message ?? end.detail }] : []),
    ...(endedWell
      ? [
          {
            name: "verdict by tool",
            ok: submitted,
            detail: submitted ? "" : "it answered, but did not call submit_verdict; a stronger model may",
          },
        ]
      : []),
  ];
  return {
    ok: steps.every(({ ok }) => ok),
    steps,
    durationMs: end.durationMs,
    usage: conversation?.usage ?? null,
  };
}

function versionOf(conversation: Conversation | undefined): string {
  return [conversation?.model, conversation?.version].filter((part) => typeof part === "string").join(", version ");
}
