// The ticket folder of any project, by that project's own settings.

import { loadSettings } from "../../settings/load.ts";
import type { Environment } from "../../settings/site.ts";
import type { TicketFolder } from "./folder.ts";
import { openTicketFolder } from "./open-folder.ts";

export async function openProjectFolder(project: string, environment: Environment): Promise<TicketFolder> {
  const config = await loadSettings({ environment, project, flags: {} });
  if (!config.ok) throw new Error(config.error.message);
  return openTicketFolder({ project, settings: config.value.tickets });
}
