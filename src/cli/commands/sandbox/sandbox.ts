// `sandbox list|test`: which sandboxes this machine can start, and a real start of them.

import { listSandboxes, type LookedAtSandbox, SANDBOX_KINDS } from "../../../app/sandboxes/list-sandboxes.ts";
import { type TriedSandbox, trySandbox } from "../../../app/sandboxes/try-sandbox.ts";
import type { ConfiningMode } from "../../../core/flow/workspace-mode.ts";
import type { Result } from "../../../core/result.ts";
import { loadSettings } from "../../../settings/load.ts";
import type { Settings } from "../../../settings/settings.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, paint, printJson, printTable } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export async function sandboxList(io: Io): Promise<number> {
  requireOperator(io, "sandbox list");
  const looked = await listSandboxes(await settingsOf(io), io.environment);
  if (io.json) printJson(io, { sandboxes: looked });
  else if (io.quiet) for (const { kind } of looked.filter(({ problem }) => problem === null)) io.out(kind);
  else
    printTable(
      io,
      looked.map((one) => row(one)),
    );
  if (!io.json && !io.quiet && !io.plain) for (const one of looked) tellFix(io, one);
  return EXIT.ok;
}

export async function sandboxTest(io: Io, typed: string | undefined): Promise<number> {
  requireOperator(io, "sandbox test");
  const settings = await settingsOf(io);
  const kinds = typed === undefined ? await startable(io, settings) : [kindOf(typed)];
  const tried: { readonly kind: ConfiningMode; readonly result: Result<TriedSandbox> }[] = [];
  for (const kind of kinds) {
    const result = await trySandbox(kind, settings, io.environment);
    tried.push({ kind, result });
    if (!io.json && !io.quiet) tell(io, kind, result);
  }
  if (io.json) {
    const shown = tried.map(({ kind, result }) =>
      result.ok ? { ok: true, ...result.value } : { ok: false, kind, error: result.error },
    );
    printJson(io, { sandboxes: shown });
  }
  return tried.every(({ result }) => result.ok) ? EXIT.ok : EXIT.error;
}

/** The project's file may name an image and options of the engine, so it must be approved. */
async function settingsOf({ home, environment, cwd }: Io): Promise<Settings> {
  const loaded = await loadSettings({ home, environment, project: cwd, flags: {} });
  if (!loaded.ok) throw problemError(loaded.error);
  return loaded.value;
}

/** Daytona is tried by its name only: it costs money. */
async function startable(io: Io, settings: Settings): Promise<readonly ConfiningMode[]> {
  const looked = await listSandboxes(settings, io.environment);
  const kinds = looked.filter(({ kind, problem }) => problem === null && kind !== "daytona").map(({ kind }) => kind);
  if (kinds.length === 0) {
    const hint = "passrail sandbox list   says what each one needs";
    throw new CliError("sandbox_unavailable", "No sandbox can be started on this machine.", hint);
  }
  return kinds;
}

function kindOf(typed: string): ConfiningMode {
  const kind = SANDBOX_KINDS.find((each) => each === typed);
  if (kind === undefined)
    throw usageError("sandbox_unknown", `"${typed}" is no sandbox; there are ${SANDBOX_KINDS.join(", ")}.`);
  return kind;
}

function row({ kind, problem, isChosen, isStrongest }: LookedAtSandbox): Column[] {
  const uses = [...(isChosen ? ["chosen"] : []), ...(isStrongest ? ["auto"] : [])].join(", ");
  return [
    { name: "sandbox", value: kind },
    problem === null
      ? { name: "state", value: "works", color: "green" }
      : { name: "state", value: "unavailable", color: isChosen ? "red" : "dim" },
    { name: "used by", value: uses },
    { name: "why", value: problem?.message ?? "" },
  ];
}

function tellFix(io: Io, { kind, problem }: LookedAtSandbox): void {
  if (problem !== null && problem.hint !== "") io.err(plainText(`${kind}: ${problem.hint}`));
}

function tell(io: Io, kind: ConfiningMode, result: Result<TriedSandbox>): void {
  if (!result.ok) {
    io.out(`${paint(io, "red", "✗")} ${plainText(result.error.message)}`);
    if (result.error.hint !== undefined) io.err(`    ${plainText(result.error.hint)}`);
    return;
  }
  const { ms, user, git, agents, apart, keepsWork } = result.value;
  const facts = [
    `started and ended in ${ms} ms`,
    user === 0 ? "the agent is root inside" : `the agent is user ${user} inside`,
    git === null ? "no git inside" : git,
    agents.length === 0 ? "no coding agent inside" : `agents inside: ${agents.join(", ")}`,
    ...(apart === null ? [] : [`no gateway and no desk inside: ${apart}`]),
    ...(keepsWork ? [] : ["its work did not arrive outside"]),
  ];
  io.out(`${paint(io, "green", "✓")} ${kind}: ${plainText(facts.join("; "))}`);
}
