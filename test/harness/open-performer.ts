// Passrail as the process that performs: opened and performing, or refused with an error.

import { approveFiles } from "./approve-files.ts";
import { openPassrail, type PassrailOptions, type Performer, requirePerformer } from "../../src/compose.ts";

export async function openPerformer(options: PassrailOptions): Promise<Performer> {
  const passrail = await openIdle(options);
  await passrail.perform();
  return passrail;
}

/** Holds the lock and performs nothing yet. */
export async function openIdle(options: PassrailOptions): Promise<Performer> {
  approveFiles(options.home, options.project);
  const opened = await openPassrail(options);
  if (!opened.ok) throw new Error(opened.error.message);
  const performer = await requirePerformer(opened.value);
  if (!performer.ok) throw new Error(performer.error.message);
  return performer.value;
}
