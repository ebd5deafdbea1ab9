// A ticket becomes a run. Which run it is follows from the ticket and how often it has been started, so that starting it twice, after a
// crash or by two who do not know of each other, starts it once.

import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Actor } from "../../core/run/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { isEnded, type Run } from "../../core/run/run.ts";
import { pickRules } from "../../core/ticket/pick-rules.ts";
import type { PlannedTicket } from "../../core/ticket/plan.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";
import type { Engine } from "../../engine/engine.ts";
import { prepareRun } from "../../app/start-run/prepare.ts";
import type { Store } from "../../store/store.ts";
import { repoRule } from "../file/repos.ts";
import { containedCommits } from "./contained.ts";
import { ownRuns } from "./own-runs.ts";
import { subjectOf } from "../mirror/run-ticket.ts";

export type TicketStart = {
  readonly engine: Pick<Engine, "startRun">;
  readonly store: Store;
  readonly config: Settings;
  /** The project whose folder has the tickets. */
  readonly project: string;
  readonly actor: Actor;
  readonly resolve: (flow: string) => Result<ResolvedFlow>;
  /** `*=claude`, `validate=codex`: over what the settings say. */
  readonly agents?: readonly string[];
};

/** `started` is false where a run of this ticket goes on already. */
export type Started = { readonly run: Run; readonly started: boolean };

export async function startTicket(
  planned: PlannedTicket,
  tickets: ReadonlyMap<string, Ticket>,
  start: TicketStart,
): Promise<Result<Started>> {
  const { store, config, project } = start;
  const { ticket } = planned;
  const earlier = await ownRuns(store, project, ticket.id);
  const open = earlier.find((run) => !isEnded(run));
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
      agents: start.agents ?? [],
    },
    config,
  );
  if (!prepared.ok) return err(named(ticket.id, prepared.error));
  const { run } = await start.engine.startRun({
    runId: runIdOf(project, ticket.id, earlier.length),
    resolved: resolved.value,
    subject,
    facts: prepared.value.facts,
    actor: start.actor,
  });
  return ok({ run, started: true });
}

function ticketFacts({ ticket, dependents }: PlannedTicket): JsonObject {
  const { id, status, repo, dependsOn, group, variantHint, workflow } = ticket;
  return {
    id,
    status,
    repo,
    dependsOn,
    ...(group === null ? {} : { group }),
    ...(variantHint === null ? {} : { variantHint }),
    ...(workflow === null ? {} : { workflow }),
    terminal: dependents.length === 0,
  };
}

/** The folder in which agents work. A name that means nothing here is refused: the work must not end up somewhere else. */
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

function runIdOf(project: string, ticket: string, earlier: number): string {
  const hash = createHash("sha256").update(`${project}\0${ticket}\0${earlier}`).digest("hex");
  return `r${hash.slice(0, 10)}`;
}

function named(id: string, problem: Problem): Problem {
  return { ...problem, message: `${id} cannot start: ${problem.message}` };
}
