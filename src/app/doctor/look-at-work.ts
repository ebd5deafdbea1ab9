// The project and the agents for `doctor`: repository, settings, trust, coding agents with their logins, sandboxes, and what
// holds processes without one. A sandbox is really started; agents are only asked for their version.

import { rungsIn } from "../../core/flow/ladder.ts";
import { isConfining } from "../../core/flow/workspace-mode.ts";
import type { Detected } from "../../runner/detect.ts";
import { detectRunners } from "../../runner/detect-runners.ts";
import { readyRunners } from "../../runner/ready.ts";
import { loadSettings } from "../../settings/load.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment, Site } from "../../settings/site.ts";
import { HELD_BY } from "../../core/view/containment.ts";
import { enclosureHere } from "../../runner/process/enclose.ts";
import { workspaceProblem } from "../../workspace/providers.ts";
import { strongestSandbox } from "../../workspace/strongest.ts";
import { noWorktree } from "../start-run/find-worktree.ts";
import { lookAtTrust } from "../trust/trust.ts";
import { bad, type Checkup, doubtful, good } from "./checkup.ts";
import { lookAtNetwork } from "./look-at-network.ts";

export async function lookAtWork(site: Site): Promise<readonly Checkup[]> {
  const settings = await loadSettings({ ...site, flags: {}, unapproved: "show" });
  const first = [await repository(site.project), trust(site)];
  if (!settings.ok)
    return [...first, bad("settings", settings.error.message, settings.error.hint ?? "Edit passrail.yaml")];
  const config = settings.value;
  const agents = await detectRunners(site.environment, site.project, config);
  return [
    ...first,
    good("settings", "readable"),
    ...agentLines(agents, config),
    ...(await lookAtNetwork(agents, site.environment)),
    ...(await sandboxes(config, site.environment)),
    enclosure(config),
  ];
}

async function repository(project: string): Promise<Checkup> {
  const cannot = await noWorktree(project);
  if (cannot === undefined) return good("repository", project);
  const { message, hint = 'git init && git add -A && git commit -m "Start"' } = cannot.problem;
  return cannot.canWorkInPlace ? doubtful("repository", message, hint) : bad("repository", message, hint);
}

function trust(site: Site): Checkup {
  const found = lookAtTrust(site);
  if (!found.ok) return bad("trust", found.error.message, found.error.hint ?? "passrail trust");
  const { state, files } = found.value;
  if (state === "none") return good("trust", "the project brings no files that decide what runs");
  if (state === "approved") return good("trust", `${files.length} ${files.length === 1 ? "file" : "files"} approved`);
  return doubtful(
    "trust",
    state === "new" ? "the project's files are not approved" : "the project's files changed since they were approved",
    "passrail trust   shows them;  passrail trust --yes   approves them",
  );
}

/** Programs that are not installed are named only where none is ready. */
function agentLines(agents: readonly Detected[], { agents: given, runner }: Settings): readonly Checkup[] {
  const ready = readyRunners(agents);
  const isReady = (name: string): boolean => ready.some((each) => each.runner === name);
  const hasOwn = Object.values(given).some(({ command }) => command !== undefined);
  const named = runner.value === "none" ? [] : rungsIn(runner.value).map((rung) => rung.runner);
  // A ladder needs one program that is ready.
  const wanted = named.some(isReady) ? [] : agents.filter((each) => named.includes(each.runner));
  return agents.flatMap((found): Checkup[] => {
    const name = `agent ${found.runner}`;
    const detail =
      found.status === "missing" ? "not installed" : `${found.version ?? "no answer"}, ${loginText(found)}`;
    if (isReady(found.runner)) return [good(name, detail)];
    if (wanted.includes(found)) return [bad(name, `${detail}, and the setting runner names it`, found.fix)];
    if (found.status === "found") return [doubtful(name, detail, found.fix)];
    return ready.length === 0 && !hasOwn ? [bad(name, `${detail}; no agent is ready`, found.fix)] : [];
  });
}

function loginText({ login }: Extract<Detected, { status: "found" }>): string {
  const words = { yes: "logged in", no: "not logged in", unknown: "login unknown" };
  return `${words[login.state]}${login.evidence === "" ? "" : ` (${login.evidence})`}`;
}

/** Of programs without a sandbox. */
function enclosure({ enclosure: chosen }: Settings): Checkup {
  const name = "without a sandbox";
  const here = enclosureHere(chosen.value);
  if (!here.ok) return bad(name, `no program starts: ${here.error}`, "attempts: { enclosure: auto } in passrail.yaml");
  const found = HELD_BY[here.value];
  return here.value !== "markers" || chosen.value === "markers"
    ? good(name, found)
    : doubtful(name, `${found}: one that hides outlives its attempt`, WITHOUT_A_RUNG);
}

const WITHOUT_A_RUNG =
  "use a sandbox, passrail service install, or loginctl enable-linger with systemd (docs/sandboxes.md)";

/** Bubblewrap always; another kind where the settings choose it. */
async function sandboxes({ workspace, workspaces }: Settings, environment: Environment): Promise<readonly Checkup[]> {
  if (workspaces.sandbox === "auto") {
    const found = await strongestSandbox(workspaces, environment);
    const name = "sandbox auto";
    return [found.ok ? good(name, found.value) : bad(name, found.error.message, found.error.hint ?? "")];
  }
  const chosen = [workspaces.sandbox, workspace.value].filter((mode) => mode !== "by-flow" && isConfining(mode));
  const kinds = [...new Set(["bubblewrap" as const, ...chosen])];
  return Promise.all(
    kinds.map(async (mode): Promise<Checkup> => {
      const problem = await workspaceProblem(mode, workspaces, environment);
      const name = `sandbox ${mode}`;
      if (problem === undefined) return good(name, "started one, and it works");
      const { message, hint = "" } = problem;
      return chosen.includes(mode) ? bad(name, message, hint) : doubtful(name, message, hint);
    }),
  );
}
