// A ticket becomes a run. The run's id is derived from the ticket and the number of its earlier runs, so a ticket that is started twice, after
// a crash or by two processes at once, gets one run.

import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Actor } from "../../core/run/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { isEnded } from "../../core/run/run.ts";
import { workspaceMode } from "../../core/run/run-settings.ts";
import { groupOfBranch } from "../../core/ticket/branches.ts";
import { pickRules } from "../../core/ticket/pick-rules.ts";
import type { PlannedTicket } from "../../core/ticket/plan.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";
import { runIdOf } from "../../app/run-id.ts";
import { prepareRun } from "../../app/start-run/prepare.ts";
import type { StartedRun } from "../../app/start-run/start-run.ts";
import type { UseCases } from "../../app/use-cases.ts";
import { optional } from "../../core/optional.ts";
import type { Environment } from "../../settings/site.ts";
import type { Store } from "../../store/store.ts";
import { repoRule } from "../file/repos.ts";
import { containedCommits } from "./contained.ts";
import type { LandingAccess } from "./landing-access.ts";
import { ownRuns, worksOnTicket } from "./own-runs.ts";
import { subjectOf } from "../mirror/run-ticket.ts";

export type TicketStart = {
  readonly app: Pick<UseCases, "startRun">;
  readonly store: Store;
  readonly config: Settings;
  /** The project whose folder has the tickets. */
  readonly project: string;
  readonly actor: Actor;
  readonly resolve: (flow: string) => Result<ResolvedFlow>;
  /** Whether finished work could leave; a ticket whose work could not does not start. */
  readonly access: Pick<LandingAccess, "check">;
  /** `*=claude`, `validate=codex`: override the settings. */
  readonly runners?: readonly string[];
  readonly home?: string;
  readonly environment?: Environment;
  /** Gets a line for a secret in the ticket. */
  readonly onAlert?: (line: string) => void;
};

export async function startTicket(
  planned: PlannedTicket,
  tickets: ReadonlyMap<string, Ticket>,
  start: TicketStart,
): Promise<Result<StartedRun>> {
  const { store, config, project } = start;
  const { ticket } = planned;
  const earlier = await ownRuns(store, project, ticket.id);
  const open = earlier.find((run) => !isEnded(run) && worksOnTicket(run));
  if (open !== undefined) return ok({ run: open, started: false });
  const resolved = start.resolve(ticket.flow ?? config.tickets.flow);
  if (!resolved.ok) return resolved;
  const place = repositoryOf(ticket, project, config.tickets.repos);
  if (!place.ok) return err(named(ticket.id, place.error));
  const subject = subjectOf(ticket);
  const contains = await containedCommits(ticket, {
    store,
    project,
    repository: place.value,
    tickets,
    satisfied: pickRules(resolved.value.flow).satisfied,
  });
  const prepared = await prepareRun(
    {
      resolved: resolved.value,
      subject,
      project: place.value,
      cwd: project,
      input: [
        ["config.merge_mode", config.merge.mode.value],
        ["config.test_writer", config.tickets.testWriter],
        ["config.backlog_entry", config.tickets.backlogEntry],
      ],
      ticket: ticketFacts(planned),
      ticketPlace: { file: ticket.path, project, contains },
      runners: start.runners ?? [],
      adoptsBranch: ticket.adoptsBranch === true,
      ...optional({ home: start.home, environment: start.environment }),
    },
    config,
  );
  if (!prepared.ok) return err(named(ticket.id, prepared.error));
  for (const line of prepared.value.alerts) start.onAlert?.(line);
  const access = await checkAccess(planned, start, resolved.value, place.value, prepared.value.facts);
  if (!access.ok) return err(named(ticket.id, access.error));
  // The ticket and the number of its earlier runs name the start: two processes that start it at once start one run.
  const runId = runIdOf(`${project}\0${ticket.id}\0${earlier.length}`);
  const { facts, texts, resolved: limited } = prepared.value;
  return start.app.startRun({ runId, resolved: limited, subject, facts, texts }, start.actor);
}

/** A run in the project's own folder has no branch that leaves. */
async function checkAccess(
  { dependents }: PlannedTicket,
  { access, config }: TicketStart,
  resolved: ResolvedFlow,
  project: string,
  facts: JsonObject,
): Promise<Result<null>> {
  if (workspaceMode(resolved, { facts }) === "in-place") return ok(null);
  const { mode, ...settings } = config.merge;
  const isTerminal = dependents.length === 0;
  const ticketsFolder = config.tickets.folder;
  return access.check({ resolved, project, mode: mode.value, isTerminal, settings, ticketsFolder });
}

function ticketFacts({ ticket, branch, dependents }: PlannedTicket): JsonObject {
  const { id, status, repo, dependsOn, group, variantHint, workflow } = ticket;
  return {
    id,
    status,
    repo,
    dependsOn,
    // An independent variant works on a branch of its own; flows name branches by the group.
    ...(group === null ? {} : { group: groupOfBranch(branch) }),
    ...(variantHint === null ? {} : { variantHint }),
    ...(workflow === null ? {} : { workflow }),
    terminal: dependents.length === 0,
  };
}

/** The folder in which agents work. An unknown name is refused: the work must not end up in another repository. */
function repositoryOf({ repo }: Ticket, project: string, repos: Readonly<Record<string, string>>): Result<string> {
  if (repoRule(project, {})(repo)) return ok(project);
  const folder = Object.entries(repos).find(([name, path]) => repoRule(project, { [name]: path })(repo))?.[1];
  const place = folder === undefined ? undefined : resolve(project, folder);
  if (place !== undefined && statSync(place, { throwIfNoEntry: false })?.isDirectory() === true)
    return ok(realpathSync(place));
  return err({
    code: "repo_not_found",
    message: place === undefined ? `no repository is called "${repo}"` : `its repository "${repo}" is not at ${place}`,
    hint: "tickets.repos in passrail.yaml says where repositories are",
  });
}

function named(id: string, problem: Problem): Problem {
  return { ...problem, message: `${id} cannot start: ${problem.message}` };
}
