// From an occurrence to the plan of its run. The occurrence is the key of the start, so it starts one run however often it is tried.

import { loadSettings } from "../settings/load.ts";
import type { Site } from "../settings/site.ts";
import { err, type Result } from "../core/result.ts";
import type { Subject } from "../core/run/run.ts";
import { planRun, type RunPlan } from "../app/start-run/start-run.ts";
import type { Occurrence } from "./source.ts";
import type { TriggerSettings } from "../settings/triggers.ts";

export type TriggerPlace = Site & {
  readonly flags: { readonly slots?: string; readonly workspace?: string };
};

const TITLE_CHARS = 200;
const BODY_CHARS = 256 * 1024;

export async function planTriggered(
  settings: TriggerSettings,
  occurrence: Occurrence,
  place: TriggerPlace,
): Promise<Result<RunPlan>> {
  const { name, flow, input = {} } = settings;
  const plan = await planRun(
    {
      home: place.home,
      project: place.project,
      settings: () => loadSettings(place),
      environment: place.environment,
    },
    {
      flow,
      subject: subjectOf(settings, occurrence),
      input: Object.entries(input),
      facts: { trigger: { name, occurrence: occurrence.id, ...occurrence.facts } },
      key: keyOf(place.project, name, occurrence.id),
    },
  );
  if (plan.ok || plan.error.code !== "flow_not_found") return plan;
  return err({
    ...plan.error,
    message: `The trigger ${name} names the flow ${flow}, which does not exist.`,
    hint: "passrail flow list",
  });
}

/** Names the occurrence for the rule of run ids. */
export function keyOf(project: string, name: string, occurrence: string): string {
  return `trigger\n${project}\n${name}\n${occurrence}`;
}

/** The settings' words with the occurrence filled in. Text that was filled in is not searched again. */
function subjectOf(settings: TriggerSettings, occurrence: Occurrence): Subject {
  const values = new Map(Object.entries({ name: settings.name, ...occurrence.values }));
  const fill = (text: string): string =>
    text.replaceAll(/\{([a-z]{1,20}(?:\.[a-z]{1,20})?)\}/gu, (whole, key: string) => values.get(key) ?? whole);
  const title = fill(settings.title ?? occurrence.title)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, TITLE_CHARS);
  // The settings' own body comes before the occurrence's, never instead of it.
  const said = settings.body === undefined ? "" : `${fill(settings.body)}\n\n`;
  return {
    id: `${settings.name}-${occurrence.mark}`,
    title: title === "" ? settings.name : title,
    body: `${said}${occurrence.body}`.slice(0, BODY_CHARS),
  };
}
