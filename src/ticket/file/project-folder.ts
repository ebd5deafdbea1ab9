// The ticket folder of any project, by that project's own settings.

import { loadSettings } from "../../settings/load.ts";
import type { Site } from "../../settings/site.ts";
import type { TicketFolder } from "./folder.ts";
import { openTicketFolder } from "./open-folder.ts";

export async function openProjectFolder(site: Site): Promise<TicketFolder> {
  const config = await loadSettings({ ...site, flags: {}, unapproved: "show" });
  if (!config.ok) throw new Error(config.error.message);
  return openTicketFolder({ project: site.project, settings: config.value.tickets });
}
