// Passrail as the process that performs: opened and performing, or refused with an error.

import { approveFiles } from "./approve-files.ts";
import { openPassrail, type PassrailOptions, type Performer, requirePerformer } from "../../src/compose.ts";

export async function openPerformer(options: PassrailOptions): Promise<Performer> {
  const passrail = await openIdle(options);
  await passrail.perform();
  return passrail;
}

/**
 * Holds the lock and performs nothing yet. Attempts are carried out in this process unless the caller's environment says otherwise: from the
 * source, a process per attempt would cost more than most attempts. The program's own tests (daemon, crash, contract) have carriers.
 */
export async function openIdle(options: PassrailOptions): Promise<Performer> {
  approveFiles(options.home, options.project);
  const environment = { PASSRAIL_ATTEMPT_PROCESS: "engine", ...options.environment };
  const opened = await openPassrail({ ...options, environment });
  if (!opened.ok) throw new Error(opened.error.message);
  const performer = await requirePerformer(opened.value);
  if (!performer.ok) throw new Error(performer.error.message);
  return performer.value;
}
