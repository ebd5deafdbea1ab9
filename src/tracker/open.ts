// The trackers of the user's settings. Opens no connection yet; keys are read for every request, so that a new one needs no restart.

import { err, ok, type Result } from "../core/result.ts";
import type { TrackedPhase, TrackedStates } from "../core/ticket/tracked.ts";
import { openTransport } from "../forge/github/transport.ts";
import { readSecrets } from "../settings/secrets.ts";
import type { Environment } from "../settings/site.ts";
import type { TrackerSettings } from "../settings/trackers.ts";
import { createGitHub } from "./github.ts";
import { createJira } from "./jira.ts";
import { createLinear } from "./linear.ts";
import type { Tracker } from "./tracker.ts";

const LINEAR = "https://api.linear.app";

/** The names of a new team, project or repository there. */
const GITHUB_STATES: TrackedStates = { done: "closed", canceled: "not planned" };
const LINEAR_STATES: TrackedStates = {
  working: "In Progress",
  review: "In Review",
  done: "Done",
  canceled: "Canceled",
};
const JIRA_STATES: TrackedStates = { working: "In Progress", done: "Done" };

export function openTrackers(settings: readonly TrackerSettings[], environment: Environment): readonly Tracker[] {
  return settings.map((each) => openTracker(each, environment));
}

function openTracker(settings: TrackerSettings, environment: Environment): Tracker {
  if ("github" in settings)
    return createGitHub({
      repo: settings.github,
      states: statesOf(GITHUB_STATES, settings.states),
      transport: () => openTransport({ environment, host: environment["GH_HOST"] ?? "github.com" }),
    });
  const key = (): Result<string> => {
    const { key_file, key_env } = settings;
    if (key_file === undefined && key_env === undefined)
      return err({ code: "secret_missing", message: "key_file or key_env of the tracker is missing." });
    const read = readSecrets(key_file, key_env, environment);
    return read.ok ? ok(read.value[0] ?? "") : read;
  };
  if ("linear" in settings)
    return createLinear({
      url: `${(settings.site ?? LINEAR).replace(/\/+$/u, "")}/graphql`,
      team: settings.linear,
      states: statesOf(LINEAR_STATES, settings.states),
      key,
    });
  const { jira, site, user } = settings;
  const states = statesOf(JIRA_STATES, settings.states);
  return createJira({ site: site.replace(/\/+$/u, ""), project: jira, user, states, key });
}

/** `false` leaves the issue alone in that phase. */
function statesOf(
  usual: TrackedStates,
  said: Readonly<Partial<Record<TrackedPhase, string | false | undefined>>> = {},
): TrackedStates {
  const all = Object.entries({ ...usual, ...said });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
