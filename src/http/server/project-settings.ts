// The daemon's access to the settings files that a person may change from the dashboard. The audit log names the setting and its value,
// which the request alone does not.

import { editSetting, lookAtEditable } from "../../app/set-up/edit-settings.ts";
import type { CurrentBudgets } from "../../settings/current-budgets.ts";
import type { Site } from "../../settings/site.ts";
import type { Audit } from "./audit.ts";
import type { ServerDeps } from "./deps.ts";

export type ProjectSettingsOptions = {
  readonly site: Site;
  readonly audit: Audit;
  readonly budgets: Pick<CurrentBudgets, "refresh">;
  readonly now: () => string;
};

export function openProjectSettings(options: ProjectSettingsOptions): NonNullable<ServerDeps["settings"]> {
  const { site, audit, budgets, now } = options;
  return {
    look: () => lookAtEditable(site),
    async edit(request, actor) {
      const edited = editSetting(site, request, { actor, now: now() });
      if (!edited.ok || !edited.value.written) return edited;
      // The next start already has to know the new limit.
      await budgets.refresh();
      const { scope, name, value } = request;
      audit.record({
        type: "request.made",
        principal: null,
        who: actor,
        from: `process ${process.pid}`,
        what: `settings: ${name} of the ${scope}'s file is ${value === null ? "removed" : JSON.stringify(value)}`,
        status: null,
        code: null,
        requestId: null,
      });
      return edited;
    },
  };
}
