// `init`: shows what it found and the settings that follow from it, and writes them after a yes.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { lookAtProject, type LookedAtProject } from "../../../app/set-up/look-at-project.ts";
import { tryCheck } from "../../../app/set-up/try-checks.ts";
import { EDITOR_LINES, writeEditorSchemas } from "../../../app/set-up/editor-schemas.ts";
import { exists, writeSettings } from "../../../app/set-up/write-settings.ts";
import { settingsText } from "../../../core/setup/settings-text.ts";
import { setupLines } from "../../../core/view/setup-text.ts";
import { readyRunners } from "../../../runner/ready.ts";
import { loadSettings } from "../../../settings/load.ts";
import { SETTINGS_FILE } from "../../../settings/site.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { catchSignals } from "../../interrupt.ts";
import { requireOperator } from "../../operator.ts";
import { askYesOrNo, canAsk } from "../../terminal/ask-in-terminal.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson, shortDuration } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { approve, placeOf } from "../../trust.ts";
import { seeTickets } from "../overview/place.ts";

export type InitOptions = { readonly yes: boolean; readonly dryRun: boolean; readonly runChecks: boolean };

export async function init(io: Io, { yes, dryRun, runChecks }: InitOptions): Promise<number> {
  requireOperator(io, "init");
  const path = join(io.cwd, SETTINGS_FILE);
  if (existsSync(path)) throw problemError(exists(path));
  const config = await loadSettings({
    home: io.home,
    environment: io.environment,
    project: io.cwd,
    flags: {},
    unapproved: "ignore",
  });
  if (!config.ok) throw problemError(config.error);
  const found = await lookAtProject(io.environment, io.cwd, config.value);
  const [runner = null] = readyRunners(found.agents);
  await tell(io, found);
  const { checks } = found.proposal;
  const tries =
    checks.length > 0 &&
    (runChecks || (!dryRun && !yes && canAsk(io) && (await askYesOrNo("Run these checks once now? [y/N] "))));
  const red = tries ? await tryAll(io, found) : new Map<string, string>();
  const text = settingsText({ editorLine: EDITOR_LINES.settings, runner, proposal: found.proposal, red });
  if (!io.json) for (const line of text.trimEnd().split("\n")) io.out(line);
  if (dryRun) {
    if (io.json) printJson(io, { path, written: false, trusted: false, red: Object.fromEntries(red), text });
    return EXIT.ok;
  }
  if (!yes && !(await isAgreed(io))) throw new CliError("not_written", "Nothing was written.");
  const written = writeSettings(placeOf(io), text);
  if (!written.ok) throw problemError(written.error);
  const { approvable } = written.value;
  writeEditorSchemas(io.cwd);
  if (approvable !== null) approve(io, approvable);
  if (io.json) printJson(io, { path, written: true, trusted: approvable !== null, red: Object.fromEntries(red), text });
  else tellWritten(io, approvable !== null);
  return EXIT.ok;
}

async function tell(io: Io, found: LookedAtProject): Promise<void> {
  if (io.json || io.quiet) return;
  const { project, repository, agents, remotes, proposal, noSandbox } = found;
  const gaps = agents.map(({ runner, fix }) => ({ runner, fix }));
  const seen = {
    project,
    ...repository,
    ready: readyRunners(agents),
    gaps,
    hasSettings: false,
    tickets: await seeTickets(io),
  };
  for (const line of setupLines({ ...seen, remotes, proposal, noSandbox })) io.err(plainText(line));
  io.err("");
}

async function isAgreed(io: Io): Promise<boolean> {
  if (canAsk(io)) return askYesOrNo(`Write ${SETTINGS_FILE}? [y/N] `);
  throw usageError(
    "confirmation_missing",
    `init asks before it writes ${SETTINGS_FILE}.`,
    "passrail init --yes   writes it\npassrail init --dry-run   only prints it",
  );
}

/** The red ones with the reason. Ctrl-C ends the check that runs and everything after it. */
async function tryAll(io: Io, { proposal, project }: LookedAtProject): Promise<ReadonlyMap<string, string>> {
  const stop = new AbortController();
  const signals = catchSignals(async () => undefined);
  void signals.caught.then(() => stop.abort());
  const red = new Map<string, string>();
  try {
    for (const check of proposal.checks) {
      if (!io.json && !io.quiet) io.err(`▶ ${check.name}: ${check.run.join(" ")}`);
      const { why, tail, ms } = await tryCheck(check, project, io.environment, stop.signal);
      if (stop.signal.aborted) throw new CliError("interrupted", "Stopped. Nothing was written.", "", EXIT.interrupted);
      if (why !== null) red.set(check.name, why);
      if (io.json || io.quiet) continue;
      const mark = why === null ? paint(io, "green", "✓") : paint(io, "red", "✗");
      io.err(`${mark} ${check.name}: ${why ?? "passed"}, ${shortDuration(ms)}`);
      for (const line of why === null ? [] : tail.trimEnd().split("\n").slice(-10)) io.err(`    ${plainText(line)}`);
    }
    return red;
  } finally {
    signals.release();
  }
}

function tellWritten(io: Io, isTrusted: boolean): void {
  io.err(
    `\n${paint(io, "green", "✔")} ${SETTINGS_FILE} is written${isTrusted ? " and approved" : ""}. Commit it, so that everybody has it; .passrail/schemas helps editors.`,
  );
  if (!isTrusted) io.err("  passrail trust   shows the other files that wait for your approval");
  io.err('  passrail "Fix the typo in the README"   starts the first task');
}
