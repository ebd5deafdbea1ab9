// The conversation of one attempt with the program that plays its agent: a user's program that reads a prompt, or a coding agent with a
// session, a place at the desk and a bill. The usage of several prompts (a repair, a lost session) adds up here.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { tokensOf, type Usage } from "../core/budget/usage.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { StageResources } from "../core/flow/flow.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { JsonObject } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import { err, type Problem } from "../core/result.ts";
import { wholePrompt } from "../core/prompt/prompt.ts";
import { redactJson } from "../core/secrets/redact-json.ts";
import { stripAnsi } from "../core/secrets/strip-ansi.ts";
import type { OpenPlace } from "../runner/desk/desk.ts";
import type {
  AgentEvent,
  AgentSpec,
  AttemptEnd,
  AttemptHooks,
  AttemptLimits,
  AttemptSpec,
  LiveMessage,
  ProcessIdentity,
  Session,
} from "../runner/runner.ts";
import type { ChosenRunner } from "../runner/runners.ts";
import { tellsAnswers } from "../runner/session-usage.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import { type AttemptDesk, type DeskOffer, type OfferedVerdict, openAttemptDesk } from "./desk-place.ts";
import { type AttemptGateway, type AttemptTape, type GatewayWatch, openAttemptGateway } from "./attempt-gateway.ts";
import { openEventLog } from "./event-log.ts";
import { failpoint } from "./failpoint.ts";
import { openAskPeople } from "./ask-people.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { type AskLive, openLiveQuestions, QUESTION_WAIT_MS } from "./live-questions.ts";
import { openPermits, type Permits } from "./permits.ts";
import { type StoppedWork, type WatchedProgram, type WorkWatch, watchWork } from "./watch-work.ts";
import { openLive } from "./live-messages.ts";

export type OpenConversation = {
  /** Runs the program once with this text. */
  say(text: string, how: Saying): Promise<AttemptEnd>;
  /** The verdict accepted at the desk, or the question to a person. */
  submitted(): Report | undefined;
  /** All usage that the program has reported so far. */
  usage(): Report["usage"];
  /** Why Passrail ended the program in the middle of its work; undefined if it did not. */
  stopped(): StoppedWork | undefined;
  /** The session that a later prompt can resume. */
  session(): Session | null;
  /** A message that waits, as the next turn; the agent has it when its program has started. */
  takeMessage(): LiveMessage | undefined;
  /** What its gateway refused, or never saw. */
  warnings(): readonly string[];
  close(): Promise<void>;
};

export type Saying = {
  readonly outputPath: string;
  /** The part of the prompt that comes before the text, and that a resumed session holds already. */
  readonly standing?: string;
  readonly session?: Session;
  /** The text is this message. */
  readonly message?: LiveMessage;
  readonly env?: Readonly<Record<string, string>>;
  /** For runners with native structured output. */
  readonly schema?: JsonObject;
};

export type ConversationPlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  /** Folders with the handoffs of others. */
  readonly reads: readonly string[];
  /** Image files of the ticket, for programs that take them beside the prompt. */
  readonly images: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: AttemptLimits;
  /** Stored with the attempt when its program has started. */
  readonly noted: JsonObject;
  /** Called with everything that is said to the agent in between. */
  readonly onSaid: (text: string) => void;
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
  const { play, reads, images } = place;
  const launch = ports.runners.runnerFor(play);
  const isAgent = play.runner !== "command";
  let model: string | null = play.options.model ?? null;
  let session: Session | null = null;
  const events = openEventLog(job.files.events);
  const seen = { work: () => watch, onEvent, deskUrl: () => desk?.place?.url ?? null };
  const gateway = await gatewayOf(job, ports, place, launch, seen);
  const environment = { ...gateway.program.environment, ...place.env };
  const asking = openAsking(job, ports, { ...place, env: environment }, onEvent);
  const asked = { reopen: () => desk?.reopen(), answer: () => watch.answer(), mayEnd: endsAtVerdict(play) };
  const live = openLive(job, { mailbox: ports.messages, onSaid: place.onSaid, ...asked });
  const scratch = scratchOf(job);
  const desk = isAgent ? await openScratchAndDesk(job, ports, place, { scratch, live, ...asking }) : undefined;
  const watch = watchWork(await watchedIn(ports, place, environment), {
    model: () => model,
    hasVerdict: () => desk?.submitted() !== undefined,
    onLimits: (uses) => onEvent({ type: "limits", uses }),
  });
  for (const text of gateway.warnings()) onEvent({ type: "notice", kind: "warning", text });
  const hooks = { signal: anyOf(ports, live, watch), onEvent, ...asking.hooks, ...live.hooks(hearsMore(ports, play)) };
  const noteBegin = (message: LiveMessage | undefined, identity: ProcessIdentity): Promise<void> =>
    noteStart(job, ports, { ...place, account: launch.account }, identity).then(() => live.noteHeard(message));

  return {
    async say(text, { outputPath, standing = "", session: earlier, env, schema, message }) {
      watch.begin(earlier?.id ?? null);
      const told = { reads, images, scratch, standing, ...optional({ schema, earlier: resumed(earlier, watch) }) };
      const end = await gateway.run(
        {
          ...standingSpec(job, ports, place, { own: isAgent ? [scratch] : [], gateway, desk }),
          argv: gateway.program.argv,
          prompt: isAgent ? text : wholePrompt({ standing, now: text }),
          env: { ...environment, ...env },
          outputPath,
          ...(isAgent ? { agent: agentSpec(job, launch, toolsOf(desk?.place, questionWaitMs(place)), told) } : {}),
        },
        { ...hooks, onStarted: (identity) => noteBegin(message, identity) },
      );
      const { conversation } = end;
      session = conversation?.session ?? session;
      ports.observed?.({ type: "session.ended", id: session?.id ?? null, reason: end.reason });
      model = conversation?.model ?? model;
      watch.end(end);
      return isAgent ? withInstallHint(await endedBy(ports, end, live.spared())) : end;
    },
    submitted: () => desk?.submitted(),
    usage: () => watch.reported(),
    stopped: () => watch.stopped(),
    session: () => session,
    takeMessage: () => live.take(),
    warnings: () => gateway.warnings(),
    async close() {
      live.close();
      asking.close();
      watch.close();
      desk?.place?.close();
      await gateway.close();
      events.close();
      if (isAgent) await rm(scratch, { recursive: true, force: true });
    },
  };

  function onEvent(event: AgentEvent): void {
    const shown = withoutCodes(event, ports.runners.redact);
    events.add(ports.now(), shown);
    ports.observed?.(shown);
    watch.note(event);
    if (event.type !== "session") return;
    session = { id: event.id, totals: null };
    model = event.model ?? model;
    // Stored at once: a later attempt can resume it even if this process dies before the attempt ends.
    ports.note(sessionFacts(event.id, watch)).catch(() => {});
  }
}

function gatewayOf(
  job: AttemptJob,
  ports: AttemptPorts,
  place: ConversationPlace,
  launch: ChosenRunner,
  seen: Omit<GatewayWatch, "apart">,
): Promise<AttemptGateway> {
  const { ownNetwork } = ports.workspaces;
  const watch = { ...seen, apart: ownNetwork?.type === "apart" ? ownNetwork.why : null };
  return openAttemptGateway(place.play.runner, tapeOf(job, ports, place), ports.runners, launch, watch);
}

/** With what is another in each attempt and occurs in its conversation. */
function tapeOf(job: AttemptJob, { playback }: AttemptPorts, { workspace }: ConversationPlace): AttemptTape {
  const { home, project, nonce, token, url, files } = job;
  const places = { home, project, nonce, token, url, result: files.result, workspace: workspace.dir };
  return { path: files.tape, places, ...optional({ playback }) };
}

type StandingSpec = Omit<AttemptSpec, "argv" | "prompt" | "env" | "outputPath" | "agent">;

type Needs = {
  /** Folders that the program itself needs. */
  readonly own: readonly string[];
  readonly gateway: AttemptGateway;
  readonly desk: AttemptDesk | undefined;
};

/** What is the same whatever is said. */
function standingSpec(job: AttemptJob, ports: AttemptPorts, place: ConversationPlace, needs: Needs): StandingSpec {
  const { redactor, enclosure } = ports.runners;
  return {
    marker: job.marker,
    cwd: place.cwd,
    limits: place.play.runner === "command" ? place.limits : { ...AGENT_LIMITS, ...place.limits },
    redactor,
    enclosure,
    ...confinement(job, ports, place, needs),
  };
}

function anyOf(...all: readonly { readonly signal: AbortSignal }[]): AbortSignal {
  return AbortSignal.any(all.map(({ signal }) => signal));
}

/** Nothing goes on in its session afterwards, and what it used is on record before its verdict is accepted. */
function endsAtVerdict({ session, runner }: RunnerChoice): boolean {
  return session !== "resume" && tellsAnswers(runner);
}

/** The way it ended says nothing about its work where Passrail ended it at its verdict, and spared it a request. */
async function endedBy(ports: AttemptPorts, end: AttemptEnd, spared: Usage | null): Promise<AttemptEnd> {
  if (spared === null) return end;
  await ports.note({ sparedTokens: tokensOf(spared) });
  const { conversation } = end;
  return { ...end, reason: "finished", ...(conversation && { conversation: { ...conversation, failure: null } }) };
}

function withInstallHint(end: AttemptEnd): AttemptEnd {
  if (end.reason !== "agent_not_found") return end;
  return { ...end, detail: `${end.detail} \`passrail agent list\` says how to install it.` };
}

/** The environment that the program is started with says where it keeps its sessions. */
async function watchedIn(
  ports: AttemptPorts,
  { play, cwd, limits, workspace }: ConversationPlace,
  env: Readonly<Record<string, string>>,
): Promise<WatchedProgram> {
  const confined = await ports.workspaces.privateFolders?.(workspace);
  const places = { env, cwd, confined };
  const { sameCalls } = limits;
  return { runner: play.runner, places, ports, sameCalls, maxCostUsd: play.options.maxCostUsd };
}

/** The session file knows best what the session had used until now: also what a cut-off attempt, or a person, did in it. */
function resumed(earlier: Session | undefined, watch: WorkWatch): Session | undefined {
  return earlier === undefined ? undefined : { id: earlier.id, totals: watch.before() ?? earlier.totals };
}

/** With what the session had used before this attempt: only what came on top of it is the attempt's own. */
function sessionFacts(id: string, watch: WorkWatch): JsonObject {
  const before = watch.before();
  return { session: { id }, sessionBefore: before === null ? null : { ...before } };
}

/** The stream had its secrets removed already; without terminal codes the two halves of one may meet. */
function withoutCodes(event: AgentEvent, redact: (text: string) => string): AgentEvent {
  return redactJson(event, (text) => {
    const plain = stripAnsi(text);
    return plain === text ? text : redact(plain);
  });
}

/** A private folder of the attempt, for files that the agent's program needs. */
function scratchOf({ home, run, stage, attempt }: AttemptJob): string {
  return join(home, "scratch", `${run.id}-${stage.id}-${attempt}`);
}

type DeskParts = {
  readonly scratch: string;
  readonly live: { readonly accepted: DeskOffer["onAccepted"] };
} & Pick<Asking, "permits" | "askLive">;

/** How the attempt asks people while its agent waits: for permission, and what the agent wants to know. */
type Asking = {
  readonly permits: Permits;
  readonly askLive: AskLive;
  readonly hooks: Required<Pick<AttemptHooks, "permit" | "heldMs">>;
  close(): void;
};

function openAsking(
  job: AttemptJob,
  ports: AttemptPorts,
  place: ConversationPlace,
  onEvent: (event: AgentEvent) => void,
): Asking {
  const people = openAskPeople(ports);
  const permits = openPermits(job, ports, people, place, onEvent);
  const askLive = openLiveQuestions(ports, people, questionWaitMs(place), onEvent);
  return { permits, askLive, hooks: { ...permits.hooks, heldMs: people.heldMs }, close: () => people.close() };
}

/** Whether people can say more to its program while it works. */
function hearsMore({ workspaces }: AttemptPorts, { runner }: RunnerChoice): boolean {
  return runner !== "command" && workspaces.takesOnePrompt !== true;
}

/** Its programs reach nothing that listens on this machine. */
function isApart({ workspaces }: AttemptPorts): boolean {
  return workspaces.ownNetwork?.type === "apart";
}

function questionWaitMs({ limits }: Pick<ConversationPlace, "limits">): number {
  return limits.questionMs ?? QUESTION_WAIT_MS;
}

async function openScratchAndDesk(
  job: AttemptJob,
  ports: AttemptPorts,
  { play, offered, onSaid }: ConversationPlace,
  { scratch, live, permits, askLive }: DeskParts,
): Promise<AttemptDesk> {
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const isReached = !isApart(ports);
  return openAttemptDesk(job, ports, {
    offered: isReached ? offered : null,
    mayAsk: isReached && play.questions === "ask",
    onAccepted: live.accepted,
    askLive,
    onSaid,
    ...optional({ permit: isReached ? permits.atDesk : undefined }),
  });
}

async function noteStart(
  job: AttemptJob,
  ports: AttemptPorts,
  { play, noted, account, workspace: { mode } }: ConversationPlace & { readonly account: string },
  identity: ProcessIdentity,
): Promise<void> {
  failpoint("spawned");
  const { prompt, output } = job.files;
  await ports.note({ process: { ...identity }, prompt, output, runner: play.runner, account, mode, ...noted });
  failpoint("process-noted");
}

const NOT_HELD = {
  code: "resources_not_held",
  message: "The stage limits memory, processes or cpus, and only a container can hold such a limit.",
  hint: "Run it with --workspace docker or --workspace podman, or take these limits out of the flow.",
};

const DISK_NOT_HELD = {
  code: "resources_not_held",
  message: "The stage limits the disk, and only a container or bubblewrap can hold such a limit.",
  hint: "Run it with --workspace bubblewrap, docker or podman, or take limits.disk out of the flow.",
};

/** A limit that nothing holds would be a promise. */
function whyNotHeld(resources: StageResources = {}, holds: Workspaces["holds"] = []): Problem | undefined {
  const open = Object.keys(resources).filter((key) => !holds.some((held) => held === key));
  if (open.length === 0) return undefined;
  return open.every((key) => key === "diskBytes") ? DISK_NOT_HELD : NOT_HELD;
}

/** Only for workspaces that confine: the program runs inside, and may also write the attempt's own folders. */
function confinement(
  job: AttemptJob,
  ports: AttemptPorts,
  { workspace, reads }: Pick<ConversationPlace, "workspace" | "reads">,
  { own, gateway, desk }: Needs,
): Pick<AttemptSpec, "confine" | "ownPrograms"> {
  const { confine, ownPrograms, holds, ownNetwork } = ports.workspaces;
  const { resources } = job.stage.limits;
  const notHeld = whyNotHeld(resources, holds);
  if (notHeld !== undefined) return { confine: async () => err(notHeld) };
  if (confine === undefined) return {};
  const folders = [job.files.result, ...own, ...(workspace.folders ?? [])];
  return {
    confine: (launch) =>
      confine(workspace, {
        ...launch,
        folders,
        reads,
        ...optional({ resources, credentials: gateway.hasKeys ? ("outside" as const) : undefined }),
        ...(ownNetwork?.type === "bridged" ? { ports: portsOf(gateway, desk) } : {}),
      }),
    ...(ownPrograms === true ? { ownPrograms } : {}),
  };
}

/** What its program asks on this machine. */
function portsOf({ url }: AttemptGateway, desk: AttemptDesk | undefined): readonly number[] {
  return [url, desk?.place?.url].flatMap((each) => (each ? [Number(new URL(each).port)] : []));
}

type Spoken = {
  readonly images: readonly string[];
  readonly scratch: string;
  readonly standing: string;
  readonly reads: readonly string[];
  readonly earlier?: Session;
  readonly schema?: JsonObject;
};

function toolsOf(desk: OpenPlace | undefined, waitMs: number): AgentSpec["tools"] {
  if (desk === undefined) return undefined;
  return { url: desk.url, token: desk.token, waitMs, ...(desk.permits ? { permits: true as const } : {}) };
}

function agentSpec(
  job: AttemptJob,
  { options, userFeatures }: ChosenRunner,
  tools: AgentSpec["tools"],
  { scratch, standing, reads, images, earlier, schema }: Spoken,
): AgentSpec {
  return {
    options,
    ...(standing === "" ? {} : { standing }),
    ...optional({ session: earlier }),
    ...optional({ tools, schema, userFeatures }),
    scratch,
    folders: [job.files.result],
    ...(reads.length === 0 ? {} : { reads }),
    ...(images.length === 0 ? {} : { images }),
    repositorySettings: job.repositorySettings,
  };
}
