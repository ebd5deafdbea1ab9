// The conversation of one attempt with the program that plays its agent: a user's program that reads a prompt, or a coding agent with a
// session, a place at the desk and a bill. The usage of several prompts (a repair, a lost session) adds up here.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { addUsage, type Usage } from "../core/budget/usage.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { JsonObject } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import type { OpenPlace } from "../runner/desk/desk.ts";
import type {
  AgentEvent,
  AgentSpec,
  AttemptEnd,
  AttemptLimits,
  AttemptSpec,
  ProcessIdentity,
  Session,
} from "../runner/runner.ts";
import type { ChosenRunner } from "../runner/runners.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AttemptDesk, type OfferedVerdict, openAttemptDesk } from "./desk-place.ts";
import { openEventLog } from "./event-log.ts";
import { failpoint } from "./failpoint.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

export type OpenConversation = {
  /** Runs the program once with this text. */
  say(text: string, how: Saying): Promise<AttemptEnd>;
  /** The verdict accepted at the desk, or the question to a person. */
  submitted(): Report | undefined;
  /** All usage that the program has reported so far. */
  usage(): Report["usage"];
  /** The session that a later prompt can resume. */
  session(): Session | null;
  close(): Promise<void>;
};

export type Saying = {
  readonly outputPath: string;
  readonly session?: Session;
  readonly env?: Readonly<Record<string, string>>;
  /** For runners with native structured output. */
  readonly schema?: JsonObject;
};

export type ConversationPlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: AttemptLimits;
  /** Stored with the attempt when its program has started. */
  readonly noted: JsonObject;
  /** The verdict that can be submitted; null where the answer itself is the result. */
  readonly offered: OfferedVerdict | null;
};

/** No coding agent is silent for this long while it works; the flow's limits take precedence. */
const AGENT_LIMITS = { startupMs: 2 * 60_000, idleMs: 15 * 60_000 } as const;

export async function openConversation(
  job: AttemptJob,
  ports: AttemptPorts,
  place: ConversationPlace,
): Promise<OpenConversation> {
  const { play } = place;
  const launch = ports.runners.runnerFor(play);
  const isAgent = play.runner !== "command";
  let usage: Usage | undefined;
  let model: string | null = play.options.model ?? null;
  let session: Session | null = null;
  const events = openEventLog(job.files.events);
  const scratch = scratchOf(job);
  const desk = isAgent ? await openScratchAndDesk(job, ports, place, scratch) : undefined;

  return {
    async say(text, { outputPath, session: earlier, env, schema }) {
      const end = await launch.runner.run(
        {
          marker: job.marker,
          argv: launch.argv,
          cwd: place.cwd,
          prompt: text,
          env: { ...launch.environment, ...place.env, ...env },
          limits: isAgent ? { ...AGENT_LIMITS, ...place.limits } : place.limits,
          outputPath,
          redactor: ports.runners.redactor,
          ...confinement(job, ports, place.workspace, isAgent ? [scratch] : []),
          ...(isAgent
            ? { agent: agentSpec(job, launch, desk?.place, { scratch, ...optional({ earlier, schema }) }) }
            : {}),
        },
        { signal: ports.signal, onStarted: (identity) => noteStart(job, ports, place, identity), onEvent },
      );
      const { conversation } = end;
      if (isAgent && end.reason === "agent_not_found")
        return { ...end, detail: `${end.detail} \`passrail agent list\` says how to install it.` };
      if (conversation === undefined) return end;
      session = conversation.session ?? session;
      model = conversation.model ?? model;
      if (conversation.usage !== null) {
        usage = usage === undefined ? conversation.usage : addUsage(usage, conversation.usage);
        ports.spent({ runner: play.runner, model, usage });
      }
      return end;
    },
    submitted: () => desk?.submitted(),
    usage: () => (isAgent && usage !== undefined ? { runner: play.runner, model, usage } : undefined),
    session: () => session,
    async close() {
      desk?.place?.close();
      events.close();
      if (isAgent) await rm(scratch, { recursive: true, force: true });
    },
  };

  function onEvent(event: AgentEvent): void {
    events.add(ports.now(), event);
    if (event.type !== "session") return;
    session = { id: event.id, totals: null };
    model = event.model ?? model;
    // Stored at once: a later attempt can resume it even if this process dies before the attempt ends.
    ports.note({ session: { id: event.id } }).catch(() => {});
  }
}

/** A private folder of the attempt, for files that the agent's program needs. */
function scratchOf({ home, run, stage, attempt }: AttemptJob): string {
  return join(home, "scratch", `${run.id}-${stage.id}-${attempt}`);
}

async function openScratchAndDesk(
  job: AttemptJob,
  ports: AttemptPorts,
  { play, offered }: ConversationPlace,
  scratch: string,
): Promise<AttemptDesk> {
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  return openAttemptDesk(job, ports, offered, play.questions === "ask");
}

async function noteStart(
  job: AttemptJob,
  ports: AttemptPorts,
  { play, noted }: ConversationPlace,
  identity: ProcessIdentity,
): Promise<void> {
  failpoint("spawned");
  const { prompt, output } = job.files;
  await ports.note({ process: { ...identity }, prompt, output, runner: play.runner, ...noted });
  failpoint("process-noted");
}

/** Only for workspaces that confine: the program runs inside, and may also write the attempt's own folders. */
function confinement(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
  own: readonly string[],
): Pick<AttemptSpec, "confine" | "ownPrograms"> {
  const { confine, ownPrograms } = ports.workspaces;
  if (confine === undefined) return {};
  const folders = [job.files.result, ...own, ...(workspace.folders ?? [])];
  return {
    confine: (launch) => confine(workspace, { ...launch, folders }),
    ...(ownPrograms === true ? { ownPrograms } : {}),
  };
}

function agentSpec(
  job: AttemptJob,
  { options }: ChosenRunner,
  desk: OpenPlace | undefined,
  { scratch, earlier, schema }: { scratch: string; earlier?: Session; schema?: JsonObject },
): AgentSpec {
  return {
    options,
    ...optional({ session: earlier }),
    ...(desk === undefined ? {} : { tools: { url: desk.url, token: desk.token } }),
    ...optional({ schema }),
    scratch,
    folders: [job.files.result],
    repositorySettings: job.repositorySettings,
  };
}
