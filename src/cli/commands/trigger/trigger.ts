// `trigger list|test|run`: the triggers that start runs automatically. `test` only shows what would happen; `run` starts an ordinary run.

import { realpathSync } from "node:fs";
import { loadSettings } from "../../../settings/load.ts";
import { didYouMean } from "../../../core/check/suggest.ts";
import { runIdOf } from "../../../app/run-id.ts";
import { planTriggered, type TriggerPlace } from "../../../trigger/start.ts";
import { type OpenedTrigger, readTriggers } from "../../../trigger/triggers.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { ensureTrusted } from "../../trust.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { startRun } from "../run/run.ts";

export async function triggerList(io: Io): Promise<number> {
  const triggers = await openAll(io);
  const rows = triggers.map(({ settings, source, memory }) => {
    const { last, problem } = memory.read();
    const { name, flow } = settings;
    return { name, kind: source.kind, watches: source.about, flow, last, problem };
  });
  if (io.json) {
    printJson(io, { triggers: rows, daemon: findDaemon(io.home) !== undefined });
    return EXIT.ok;
  }
  if (rows.length === 0) {
    io.err("No triggers are set; docs/triggers.md says how.");
    return EXIT.ok;
  }
  if (io.quiet) for (const { name } of rows) io.out(name);
  else
    printTable(
      io,
      rows.map(({ name, kind, watches, flow, last, problem }) => [
        { name: "NAME", value: name },
        { name: "KIND", value: kind },
        { name: "WATCHES", value: oneLine(watches, 60) },
        { name: "FLOW", value: flow },
        { name: "LAST", value: last === null ? "" : `${last.at} ${last.runId}` },
        { name: "PROBLEM", value: oneLine(problem ?? "", 120) },
      ]),
    );
  if (findDaemon(io.home) === undefined)
    io.err("No daemon is running, so no trigger starts a run: passrail up --detach");
  return EXIT.ok;
}

/** Prints what the trigger would do now, and whether its run could start. Changes nothing. */
export async function triggerTest(io: Io, name: string): Promise<number> {
  const { settings, source, memory } = requireTrigger(await openAll(io), name);
  const now = new Date();
  const explained = await source.explain(memory.read().seen, now);
  if (!explained.ok) throw problemError(explained.error);
  const occurrence = await source.byHand(now);
  const plan = occurrence.ok ? await planTriggered(settings, occurrence.value, placeOf(io)) : occurrence;
  // Nothing to start with is fine; a flow that cannot start is not.
  const problem = plan.ok || plan.error.code === "no_issue" ? null : plan.error;
  if (io.json) {
    const subject = plan.ok ? { title: plan.value.subject.title, body: plan.value.subject.body } : null;
    printJson(io, { name, kind: source.kind, flow: settings.flow, lines: explained.value, subject, problem });
  } else {
    for (const line of explained.value) io.out(plainText(line));
    if (plan.ok) io.out(plainText(`starts: ${settings.flow} "${plan.value.subject.title}"`));
    if (problem !== null) io.err(plainText(`! it could not start: ${problem.message}`));
  }
  return problem === null ? EXIT.ok : EXIT.error;
}

export async function triggerRun(io: Io, name: string): Promise<number> {
  requireOperator(io, "trigger run");
  await ensureTrusted(io);
  const { settings, source } = requireTrigger(await openAll(io), name);
  const occurrence = await source.byHand(new Date());
  if (!occurrence.ok) throw problemError(occurrence.error);
  const plan = await planTriggered(settings, occurrence.value, placeOf(io));
  if (!plan.ok) throw problemError(plan.error);
  // By hand it starts as often as it is asked for.
  return startRun(
    io,
    { ...plan.value, runId: runIdOf(), flags: {} },
    findDaemon(io.home) === undefined ? "follow" : "leave",
  );
}

async function openAll(io: Io): Promise<readonly OpenedTrigger[]> {
  const config = await loadSettings(placeOf(io));
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  const triggers = readTriggers(config.value.triggers, placeOf(io));
  if (!triggers.ok) throw problemError(triggers.error);
  return triggers.value;
}

function requireTrigger(triggers: readonly OpenedTrigger[], name: string): OpenedTrigger {
  const found = triggers.find(({ settings }) => settings.name === name);
  if (found !== undefined) return found;
  const known = triggers.map(({ settings }) => settings.name);
  throw new CliError("trigger_not_found", `There is no trigger "${name}".`, didYouMean(name, known, "triggers"));
}

function placeOf(io: Io): TriggerPlace {
  return { home: realOf(io.home), project: io.cwd, environment: io.environment, flags: {} };
}

/** The daemon knows the state folder by its real name. */
function realOf(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    return home;
  }
}
