// From an occurrence to its run: the same checks as for every other start, and an id made from the occurrence, so that it starts once however
// often it is tried.

import { createHash } from "node:crypto";
import { loadCatalog } from "../catalog/catalog.ts";
import { loadSettings } from "../settings/load.ts";
import { type Site, shippedDir } from "../settings/site.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { Subject } from "../core/run/run.ts";
import { prepareRun } from "../app/start-run/prepare.ts";
import type { Occurrence } from "./source.ts";
import type { TriggerSettings } from "../settings/triggers.ts";

export type StartPlace = Pick<Site, "project" | "environment"> & {
  readonly flags: { readonly slots?: string; readonly workspace?: string };
};

export type TriggeredRun = {
  readonly runId: string;
  readonly resolved: ResolvedFlow;
  readonly subject: Subject;
  readonly facts: JsonObject;
};

const TITLE_CHARS = 200;
const BODY_CHARS = 256 * 1024;

export async function planTriggered(
  settings: TriggerSettings,
  occurrence: Occurrence,
  place: StartPlace,
): Promise<Result<TriggeredRun>> {
  const config = await loadSettings(place);
  if (!config.ok) return config;
  const resolved = resolveFlow(settings, place.project);
  if (!resolved.ok) return resolved;
  const subject = subjectOf(settings, occurrence);
  const prepared = await prepareRun(
    {
      resolved: resolved.value,
      subject,
      project: place.project,
      cwd: place.project,
      input: Object.entries(settings.input ?? {}),
      agents: [],
    },
    config.value,
  );
  if (!prepared.ok) return prepared;
  const trigger = { name: settings.name, occurrence: occurrence.id, ...occurrence.facts };
  return ok({
    runId: runIdOf(place.project, settings.name, occurrence.id),
    resolved: resolved.value,
    subject,
    facts: { ...prepared.value.facts, trigger },
  });
}

export function runIdOf(project: string, name: string, occurrence: string): string {
  const key = createHash("sha256").update(`trigger\n${project}\n${name}\n${occurrence}`).digest("hex");
  return `r${key.slice(0, 10)}`;
}

/** What the settings say, with what happened filled in; what was filled in is not looked at again. */
function subjectOf(settings: TriggerSettings, occurrence: Occurrence): Subject {
  const values = new Map(Object.entries({ name: settings.name, ...occurrence.values }));
  const fill = (text: string): string =>
    text.replaceAll(/\{([a-z]{1,20}(?:\.[a-z]{1,20})?)\}/gu, (whole, key: string) => values.get(key) ?? whole);
  const title = fill(settings.title ?? occurrence.title)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, TITLE_CHARS);
  // A body of the settings' own stands before what happened, never instead of it.
  const said = settings.body === undefined ? "" : `${fill(settings.body)}\n\n`;
  return {
    id: `${settings.name}-${occurrence.mark}`,
    title: title === "" ? settings.name : title,
    body: `${said}${occurrence.body}`.slice(0, BODY_CHARS),
  };
}

function resolveFlow({ name, flow }: TriggerSettings, project: string): Result<ResolvedFlow> {
  const catalog = loadCatalog({ shippedDir, projectDir: project });
  if (!catalog.listFlows().some((known) => known.name === flow))
    return err({
      code: "flow_not_found",
      message: `The trigger ${name} names the flow ${flow}, which does not exist.`,
      hint: "passrail flow list",
    });
  const resolved = catalog.resolve(flow);
  if (resolved.ok) return resolved;
  const [first] = resolved.error;
  return err({
    code: "flow_invalid",
    message: `The flow ${flow} cannot be used: ${first?.message ?? "see passrail flow check"}`,
  });
}
