// `ticket sync`: compares imported tickets with their issues now, as a daemon does every minute.

import { openTicketFolder } from "../../../ticket/file/open-folder.ts";
import { syncTrackers } from "../../../ticket/track/sync.ts";
import { openTrackers } from "../../../tracker/open.ts";
import { EXIT } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import { shownSettings } from "../../shown-settings.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export async function ticketSync(io: Io, { dryRun }: { readonly dryRun: boolean }): Promise<number> {
  requireOperator(io, "ticket sync");
  const config = await shownSettings(io);
  const trackers = openTrackers(config.trackers, io.environment);
  const folder = openTicketFolder({ project: io.cwd, settings: config.tickets });
  const synced = await syncTrackers({ home: io.home, project: io.cwd, folder, trackers, dryRun });
  const code = synced.problems.length === 0 ? EXIT.ok : EXIT.error;
  if (io.json) {
    printJson(io, { dryRun, ...synced });
    return code;
  }
  for (const line of synced.changes) io.out(plainText(dryRun ? `would: ${line}` : line));
  for (const line of synced.problems) io.err(plainText(line));
  if (!io.quiet && synced.changes.length === 0 && synced.problems.length === 0)
    io.err(
      trackers.length === 0
        ? "There is no tracker in your settings: docs/trackers.md"
        : "Tickets and issues say the same.",
    );
  return code;
}
