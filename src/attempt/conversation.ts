// The conversation of one attempt with whoever plays its agent: a program of the user's that is told its prompt, or a coding agent with a
// session, a place at the desk and a bill. Several things may be said in one attempt (a repair, a lost session); they add up here.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type {
  AgentEvent,
  AgentSpec,
  AttemptEnd,
  AttemptLimits,
  AttemptSpec,
  ProcessIdentity,
  Session,
} from "../runner/runner.ts";
import type { JsonObject } from "../core/json.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Play } from "../core/flow/runner-choice.ts";
import { err, type Result } from "../core/result.ts";
import { addUsage, type Usage } from "../core/budget/usage.ts";
import type { DeskAnswer, OpenPlace } from "../runner/desk/desk.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { writeRecord } from "./attempt-files.ts";
import { openEventLog } from "./event-log.ts";
import { failpoint } from "./failpoint.ts";
import type { Player } from "../runner/runners.ts";
import type { StageJob } from "./run-stage.ts";
import { optional } from "../core/optional.ts";

export type Talk = {
  /** Runs the program once with this text. */
  say(text: string, how: Saying): Promise<AttemptEnd>;
  /** What was accepted at the desk: a verdict, or a question to a person. */
  submitted(): Report | undefined;
  /** Everything that was used so far, as far as it was told. */
  usage(): Report["usage"];
  /** The session that can be gone on with. */
  session(): Session | null;
  close(): Promise<void>;
};

export type Saying = {
  readonly outputPath: string;
  readonly session?: Session;
  readonly env?: Readonly<Record<string, string>>;
  /** For runners with structured output of their own. */
  readonly schema?: JsonObject;
};

export type TalkPlace = {
  readonly workspace: Workspace;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: AttemptLimits;
  /** Kept with the attempt when its program has started. */
  readonly noted: JsonObject;
  /** What can be submitted here; null where the answer itself is the result. */
  readonly desk: {
    readonly schema: JsonObject;
    readonly accept: (text: string) => Promise<Result<Report, string>>;
  } | null;
};

/** No coding agent is silent for so long while it works; the flow's own limits win. */
const AGENT_LIMITS = { startupMs: 2 * 60_000, idleMs: 15 * 60_000 } as const;

export async function openTalk(job: StageJob, play: Play, place: TalkPlace): Promise<Talk> {
  const player = job.players.playerFor(play);
  const isAgent = play.runner !== "command";
  let submitted: Report | undefined;
  let usage: Usage | undefined;
  let model: string | null = play.options.model ?? null;
  let session: Session | null = null;
  const events = openEventLog(job.files.events);
  const scratch = join(job.home, "scratch", `${job.run.id}-${job.stage.id}-${job.attempt}`);
  const desk = isAgent ? await takePlace() : undefined;

  return {
    async say(text, { outputPath, session: earlier, env, schema }) {
      const end = await player.runner.run(
        {
          marker: job.marker,
          argv: player.argv,
          cwd: place.cwd,
          prompt: text,
          env: { ...player.environment, ...place.env, ...env },
          limits: isAgent ? { ...AGENT_LIMITS, ...place.limits } : place.limits,
          outputPath,
          redactor: job.players.redactor,
          ...confinement(),
          ...(isAgent ? { agent: agentSpec(player, desk, earlier, schema) } : {}),
        },
        { signal: job.signal, onStarted, onEvent },
      );
      const { conversation } = end;
      if (isAgent && end.reason === "agent_not_found")
        return { ...end, detail: `${end.detail} \`passrail agent list\` says how to install it.` };
      if (conversation === undefined) return end;
      session = conversation.session ?? session;
      model = conversation.model ?? model;
      if (conversation.usage !== null) {
        usage = usage === undefined ? conversation.usage : addUsage(usage, conversation.usage);
        job.spent({ runner: play.runner, model, usage });
      }
      return end;
    },
    submitted: () => submitted,
    usage: () => (isAgent && usage !== undefined ? { runner: play.runner, model, usage } : undefined),
    session: () => session,
    async close() {
      desk?.close();
      events.close();
      if (isAgent) await rm(scratch, { recursive: true, force: true });
    },
  };

  /** Only for workspaces that confine: what is started is put inside, with the folders that this attempt writes besides. */
  function confinement(): Pick<AttemptSpec, "confine" | "ownPrograms"> {
    const { confine, ownPrograms } = job.workspaces;
    if (confine === undefined) return {};
    const folders = [job.files.result, ...(isAgent ? [scratch] : []), ...(place.workspace.folders ?? [])];
    return {
      confine: (launch) => confine(place.workspace, { ...launch, folders }),
      ...(ownPrograms === true ? { ownPrograms } : {}),
    };
  }

  function agentSpec(
    { options }: Player,
    open: OpenPlace | undefined,
    earlier: Session | undefined,
    schema: JsonObject | undefined,
  ): AgentSpec {
    return {
      options,
      ...optional({ session: earlier }),
      ...(open === undefined ? {} : { tools: { url: open.url, token: open.token } }),
      ...optional({ schema }),
      scratch,
      folders: [job.files.result],
      repositorySettings: job.repositorySettings,
    };
  }

  async function onStarted(identity: ProcessIdentity): Promise<void> {
    failpoint("spawned");
    const { prompt, output } = job.files;
    await job.note({ process: { ...identity }, prompt, output, runner: play.runner, ...place.noted });
    failpoint("process-noted");
  }

  function onEvent(event: AgentEvent): void {
    events.add(job.now(), event);
    if (event.type !== "session") return;
    session = { id: event.id, totals: null };
    model = event.model ?? model;
    // Known from now on, also if this process dies before the attempt ends.
    job.note({ session: { id: event.id } }).catch(() => {});
  }

  async function takePlace(): Promise<OpenPlace | undefined> {
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    const { desk: offered } = place;
    const mayAsk = play.questions === "ask";
    if (offered === null && !mayAsk) return undefined;
    return job.players.desk.open({
      verdictSchema: offered?.schema ?? null,
      mayAsk,
      submit: async (text) => {
        if (submitted !== undefined) return refused(submitted);
        const accepted = offered === null ? err("This stage takes no verdict here.") : await offered.accept(text);
        if (!accepted.ok) return { accepted: false, text: accepted.error };
        if (submitted !== undefined) return refused(submitted);
        submitted = accepted.value;
        await writeRecord(job.files.submission, job.players.redact(text));
        return { accepted: true, text: "Accepted. Your work is done: end your turn now, without another word." };
      },
      ask: async ({ question, options }) => {
        if (submitted !== undefined) return refused(submitted);
        const asked = job.players.redact(
          options.length === 0 ? question : `${question}\nOptions: ${options.join(" | ")}`,
        );
        submitted = {
          health: "blocked",
          structured: true,
          asked: true,
          questions: [asked],
          reason: "the agent asks a person",
        };
        await writeRecord(job.files.submission, JSON.stringify({ asked }));
        return {
          accepted: true,
          text: "The question was passed on to a person. End your turn now; the answer comes with your next prompt.",
        };
      },
    });
  }
}

function refused(submitted: Report): DeskAnswer {
  const what = submitted.asked === true ? "a question was passed on to a person" : "a verdict was accepted";
  return { accepted: false, text: `Not taken: ${what} before in this attempt, and that counts. End your turn now.` };
}
