// Decides the requests for permission of one attempt. What its permission allows or refuses is decided at once; the rest is asked of a
// person, one request at a time, while the agent waits. What a person allows "for this attempt" is kept here and ends with the attempt.

import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { PermissionAnswer } from "../core/run/run.ts";
import type { PermissionQuestion } from "../core/run/signal.ts";
import { controlsShown } from "../core/view/controls-shown.ts";
import { judge, type Judgement, type PermissionRules } from "../runner/permission/judge.ts";
import type { DeskPlace } from "../runner/desk/desk.ts";
import type {
  AgentEvent,
  AttemptHooks,
  AttemptLimits,
  PermissionDecision,
  PermissionRequest,
} from "../runner/runner.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AskPeople, MOST_REQUESTS } from "./ask-people.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

export type Permits = {
  /** For programs that ask in their own protocol, and report what they were refused. */
  readonly hooks: Required<Pick<AttemptHooks, "permit">>;
  /** For a program that asks at the desk; undefined for others. */
  readonly atDesk: DeskPlace["permit"];
};

export type PermitsPlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  readonly cwd: string;
  /** Of the agent's program. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: Pick<AttemptLimits, "permissionMs">;
};

/** Where neither flow nor settings say how long a person has. */
const PERMISSION_WAIT_MS = 60 * 60_000;

export function openPermits(
  job: AttemptJob,
  ports: AttemptPorts,
  people: AskPeople,
  place: PermitsPlace,
  onEvent: (event: AgentEvent) => void,
): Permits {
  const { play, limits } = place;
  const rules = rulesOf(job, ports, place);
  const mayAsk = play.questions === "ask";
  const waitMs = limits.permissionMs ?? PERMISSION_WAIT_MS;
  const granted = new Set<string>();

  const notice = (kind: "denied" | "permission", text: string): void => onEvent({ type: "notice", kind, text });

  async function ask(request: PermissionRequest, why: string): Promise<PermissionDecision> {
    if (people.gone.aborted) return { allowed: false, why: "This attempt has ended." };
    // Asked after its turn has come: the request before it may have brought the grant.
    if (granted.has(keyOf(request))) return { allowed: true, why: "" };
    const number = people.nextNumber();
    if (number === undefined)
      return {
        allowed: false,
        why: `People were asked ${MOST_REQUESTS} times in this attempt; nobody is asked again.`,
      };
    const question = questionOf(request, why, number, waitMs, ports);
    notice("permission", `asks a person: ${question.tool}: ${question.what}`);
    const answer = await people.answerTo<PermissionAnswer>({
      until: question.until,
      ask: () => ports.askPermission(question),
      expire: () => ports.expirePermission(question.request),
      without: "deny",
    });
    if (answer === "for-this-attempt") granted.add(keyOf(request));
    if (answer !== "deny") notice("permission", `a person allowed it ${answer}: ${question.tool}`);
    return answer === "deny"
      ? { allowed: false, why: "A person was asked and did not allow this. Go on without it, or say what you need." }
      : { allowed: true, why: "" };
  }

  async function decide(request: PermissionRequest): Promise<PermissionDecision> {
    const judgement = judge(request, rules);
    if (judgement.type === "allow") return { allowed: true, why: "" };
    if (judgement.type === "refuse" || !mayAsk) return refused(judgement);
    return people.inTurn(() => ask(request, judgement.why));
  }

  async function decideAloud(request: PermissionRequest): Promise<PermissionDecision> {
    const decision = await decide(request);
    const said = `${shown(request.tool, 200)}: ${shown(request.what, 2_000)}: ${decision.why}`;
    if (!decision.allowed) notice("denied", said);
    return decision;
  }

  return {
    hooks: { permit: decide },
    atDesk: asksAtDesk(play) ? decideAloud : undefined,
  };
}

/** Claude Code asks over MCP; others ask in their own protocol, or not at all. */
function asksAtDesk({ runner, options }: RunnerChoice): boolean {
  return runner === "claude" && (options.permission === "ask" || options.permission === "edit");
}

function rulesOf(job: AttemptJob, ports: AttemptPorts, { play, workspace, cwd, env }: PermitsPlace): PermissionRules {
  const { permission, denyTools = [], tools } = play.options;
  return {
    permission,
    cwd,
    folders: [cwd, workspace.dir, job.files.result, ...(workspace.folders ?? [])],
    home: env["HOME"] ?? "/",
    temporary: env["TMPDIR"] ?? tmpdir(),
    isConfined: ports.workspaces.confine !== undefined,
    denyTools,
    // Other programs have other names for their tools, and their own lists of them.
    ...(tools === undefined || play.runner !== "claude" ? {} : { tools }),
  };
}

function refused({ why }: Exclude<Judgement, { type: "allow" }>): PermissionDecision {
  return { allowed: false, why: `${why} Passrail refused it; go on without it, or say what you need.` };
}

/** What the person sees: the exact command or path, without secrets, with every character visible. */
function questionOf(
  { tool, what }: PermissionRequest,
  why: string,
  count: number,
  waitMs: number,
  { now, runners }: AttemptPorts,
): PermissionQuestion {
  return {
    request: `${count}-${createHash("sha256").update(`${tool}\0${what}`).digest("hex").slice(0, 16)}`,
    tool: shown(runners.redact(tool), 200),
    what: shown(runners.redact(what), SHOWN_CHARS),
    why: controlsShown(why),
    until: new Date(Date.parse(now()) + waitMs).toISOString(),
  };
}

const SHOWN_CHARS = 6_000;

/** The beginning and the end: whoever hides something in the middle of a long command is seen to do so. */
function shown(text: string, chars: number): string {
  if (text.length <= chars) return controlsShown(text);
  const end = Math.floor(chars / 4);
  const left = text.length - chars;
  return `${controlsShown(text.slice(0, chars - end))}\n[… ${left} characters are not shown …]\n${controlsShown(text.slice(-end))}`;
}

/** The same tool and the same command or path, byte by byte. */
function keyOf({ tool, what }: PermissionRequest): string {
  return JSON.stringify([tool, what]);
}
