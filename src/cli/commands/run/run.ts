// `run FLOW [PROJECT] "text"`: plans a run, starts it and follows it until it stops or needs a person.

import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { loadSettings } from "../../../settings/load.ts";
import type { Settings } from "../../../settings/settings.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { runIdOf } from "../../../app/run-id.ts";
import { choosePlayer, playedBy } from "../../../app/start-run/choose-player.ts";
import { type Prepared, prepareRun, type StartInput } from "../../../app/start-run/prepare.ts";
import { readAmount } from "../../amount.ts";
import { askInPlace } from "../../ask-in-place.ts";
import { canOfferDemo, offerDemo } from "./demo-instead.ts";
import { startDetached } from "./detach.ts";
import { dryRun } from "./dry-run.ts";
import { EXIT, problemError, usageError } from "../../errors.ts";
import { requireKey } from "../../idempotency-key.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { tellGate } from "../../gate-lines.ts";
import { printPhases, printRest } from "../../report.ts";
import type { CommandPlan } from "./run-plan.ts";
import { readPairs } from "../../input-pairs.ts";
import { exitOf, workOn } from "../../session.ts";
import { ensureTrusted } from "../../trust.ts";
import { readTask } from "../../task-text.ts";
import { allowedBy, prepareAsking, readRepositories, requireStart } from "./start-flow.ts";
import { openApproved } from "../flow/catalog.ts";
import { optional } from "../../../core/optional.ts";
import { ok, type Result } from "../../../core/result.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";

export type RunOptions = {
  readonly ticket?: string;
  readonly agent: readonly string[];
  readonly model?: readonly string[];
  readonly usd?: string;
  readonly tokens?: string;
  readonly dryRun?: boolean;
  readonly input: readonly string[];
  readonly workspace?: string;
  readonly slots?: string;
  /** False: every check runs. */
  readonly checkCache?: boolean;
  /** False: no stage reuses an earlier result. */
  readonly memo?: boolean;
  readonly id?: string;
  /** The same key starts the same run of this project once. */
  readonly idempotencyKey?: string;
  readonly title?: string;
  readonly adoptBranch?: boolean;
  readonly detach: boolean;
  readonly repo?: readonly string[];
  readonly allowDirty?: boolean;
  readonly allowBranch?: boolean;
};

export async function run(io: Io, flowName: string, text: string | undefined, options: RunOptions): Promise<number> {
  requireOperator(io, "run");
  await ensureTrusted(io);
  let plan: CommandPlan;
  try {
    plan = await planRun(io, flowName, text, options);
  } catch (error) {
    if (canOfferDemo(io, error)) return offerDemo(io, error);
    throw error;
  }
  if (options.dryRun === true) return dryRun(io, plan);
  if (!options.detach) return startRun(io, plan);
  // A daemon performs the run; only without one does it need a background process.
  return findDaemon(io.home) === undefined ? startDetached(io, plan) : startRun(io, plan, "leave");
}

export async function startRun(io: Io, plan: CommandPlan, then: "follow" | "leave" = "follow"): Promise<number> {
  const { runId, resolved, flags } = plan;
  if (io.quiet && !io.json) io.out(runId);
  const begun = await workOn(io, {
    runId,
    flags,
    follow: then === "follow",
    stream: then === "follow",
    lines: "err",
    act: async ({ app, store, person }) => {
      const started = await app.startRun(plan, person);
      if (!started.ok) throw problemError(started.error);
      const [summary] = await store.findRuns(runId);
      if (!io.json && !io.quiet)
        io.err(
          plainText(`#${summary?.number ?? "?"} ${resolved.flow.name}: ${started.value.run.subject.title} (${runId})`),
        );
      return true;
    },
  });
  const rest = then === "leave" ? begun : await askInPlace(io, begun, flags);
  const exit = then === "leave" ? EXIT.ok : exitOf(rest.run);
  if (then === "follow") await printPhases(io, rest.run);
  await printRest(io, rest, {
    stream: then === "follow",
    exit,
    ...(then === "leave" ? { did: `started ${runId}` } : {}),
  });
  if (then === "follow") await tellGate(io, rest.run);
  return exit;
}

/** Everything that can be checked before anything is stored. */
export async function planRun(
  io: Io,
  flowName: string,
  text: string | undefined,
  options: Omit<RunOptions, "detach">,
): Promise<CommandPlan> {
  const flags = {
    ...optional({ slots: options.slots, workspace: options.workspace }),
    ...(options.checkCache === false ? { checkCache: "off" } : {}),
    ...(options.memo === false ? { memo: "off" } : {}),
  };
  const config = await loadSettings({ home: io.home, environment: io.environment, project: io.cwd, flags });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  const named = readRepositories(io, flowName, options.repo ?? []);
  const written = [...readPairs(options.input), ...named.input];
  const { resolved, input } = requireStart(io, flowName, written);
  for (const line of agentFileLines(io, resolved)) io.err(line);
  const task = await readTask(io, { text, ticket: options.ticket });
  const key = options.idempotencyKey;
  const runId = runIdOf(key === undefined ? undefined : JSON.stringify(["run", io.cwd, requireKey(key)]));
  const id = options.id ?? task.id ?? (key === undefined ? randomUUID() : runId);
  if (!/^[^\s\p{C}]{1,200}$/u.test(id)) throw usageError("invalid_id", "--id: at most 200 characters, no spaces.");
  const subject = { id, title: options.title ?? task.title, body: task.body };
  const start = {
    resolved,
    subject,
    project: io.cwd,
    cwd: io.cwd,
    input: [...written, ...input],
    runners: options.agent,
    models: options.model ?? [],
    budget: optional({ usd: readAmount(options.usd, AMOUNT), tokens: readAmount(options.tokens, AMOUNT) }),
    home: io.home,
    environment: io.environment,
    ...optional({ ticket: task.ticket, adoptsBranch: options.adoptBranch, repositories: named.folders }),
  };
  const prepared = await prepareAsking(io, allowedBy(options), (allow) =>
    preparePlayed(io, { ...start, allow }, config.value),
  );
  if (!prepared.ok) throw problemError(prepared.error, TYPED_WRONG.has(prepared.error.code) ? EXIT.usage : EXIT.error);
  const { facts, warnings, notes, alerts, texts, resolved: limited } = prepared.value;
  for (const warning of [...warnings, ...alerts]) io.err(`! ${plainText(warning)}`);
  if (!io.quiet && !io.json) for (const note of notes) io.err(plainText(note));
  return {
    runId,
    resolved: limited,
    subject,
    facts,
    texts,
    flags: options.slots === undefined ? {} : { slots: options.slots },
  };
}

/** Where nothing says who plays, an agent that is installed and logged in does, and a note says so. */
async function preparePlayed(io: Io, start: StartInput, settings: Settings): Promise<Result<Prepared>> {
  const prepared = await prepareRun(start, settings);
  if (prepared.ok || prepared.error.code !== "agent_not_configured" || namesSomebody(start, settings)) return prepared;
  const player = await choosePlayer(io.environment, io.cwd, settings);
  if (!player.ok) return player;
  const played = await prepareRun(start, playedBy(settings, player.value));
  return played.ok ? ok({ ...played.value, notes: [player.value.note, ...played.value.notes] }) : played;
}

/** Who names some players has forgotten the others; that is an error, not a choice for Passrail. */
function namesSomebody({ runners }: StartInput, { agents }: Settings): boolean {
  const isNamed = Object.values(agents).some(({ runner, command }) => runner !== undefined || command !== undefined);
  return runners.length > 0 || isNamed;
}

/** Agent files that are left out, or that take the place of a shipped agent of this flow. */
function agentFileLines(io: Io, { agents }: ResolvedFlow): readonly string[] {
  const { problems } = openApproved(io).agents();
  const isOfFlow = (file: string): boolean => Object.hasOwn(agents, basename(file, ".md").toLowerCase());
  return problems
    .filter(({ severity, file }) => severity === "error" || isOfFlow(file))
    .map(({ file, line, message }) => `! ${plainText(`${file}:${line}: ${message}`)}`);
}

const AMOUNT = 'passrail run feature "task" --usd 5';

/** The words of the command itself are wrong, not what they are about. */
const TYPED_WRONG: ReadonlySet<string> = new Set([
  "agent_invalid",
  "amount_invalid",
  "command_empty",
  "command_must_be_list",
  "command_quote_open",
  "input_reserved",
  "invalid_input",
  "model_refused",
]);
