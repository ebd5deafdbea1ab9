// The command line of `docker run` or `podman run` for one program. It has only the names of variables: everyone on the machine can read a
// command line, so the values are in the environment of the client.

import type { StageResources } from "../../../core/flow/flow.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { unavailable } from "../shared/unavailable.ts";
import { variablesInside } from "../shared/variables.ts";
import type { Launch } from "../../workspace.ts";
import { gated } from "./gate.ts";

export type EngineName = "docker" | "podman";

/** Whose numbers users have inside: the machine's; those of an engine without root; or those of a table of the engine's daemon. */
export type Numbering = "machine" | "rootless" | "remapped";

export type ContainerSettings = {
  readonly image: string;
  readonly network?: "on" | "off" | "host" | undefined;
  readonly options?: readonly string[] | undefined;
};

export type ContainerPlan = {
  readonly engine: EngineName;
  readonly settings: ContainerSettings;
  readonly name: string;
  readonly labels: readonly string[];
  readonly user: { readonly uid: number; readonly gid: number };
  readonly numbering: Numbering;
  /** Visible inside at the same paths, writable. */
  readonly folders: readonly string[];
  /** The same, read-only. */
  readonly reads: readonly string[];
  /** The workspace's folder that serves as the home inside. */
  readonly home: string;
  /** The one that serves as /tmp, in a container that can write nothing of its image; absent: /tmp is the image's. */
  readonly tmp?: string;
  readonly launch: Launch;
  /** The folder of the gate at which the program waits for its way to Passrail; one of `folders`. */
  readonly gate?: string;
};

const INSIDE_HOME = "/home/agent";
const TEMPORARY = ["/tmp", "/var/tmp"];
const PROCESSES = 4096;

export function containerArguments(plan: ContainerPlan): Result<readonly string[]> {
  const { engine, settings, launch, user } = plan;
  const mounts: string[] = [];
  const shown = [
    ...plan.folders.map((path) => ({ source: path, target: path, more: "" })),
    { source: plan.home, target: INSIDE_HOME, more: "" },
    ...(plan.tmp === undefined ? [] : TEMPORARY.map((target) => ({ source: plan.tmp ?? "", target, more: "" }))),
    ...plan.reads.map((path) => ({ source: path, target: path, more: ",readonly" })),
  ];
  for (const { source, target, more } of shown) {
    const mount = mountOption(source, target);
    if (mount === null) {
      const hint = "Move the state folder: --home, or PASSRAIL_HOME";
      return err(unavailable(engine, `${source} cannot be shown inside because of a character in its name.`, hint));
    }
    mounts.push("--mount", `${mount}${more}`);
  }
  const names = variablesInside(launch.env);
  // By its name in the image.
  const program = [launch.program, ...launch.argv.slice(1)];
  return ok([
    "run",
    "--rm",
    "--interactive",
    // Reaps processes inside and forwards signals.
    "--init",
    // The user pulls the image beforehand: an attempt's time is not for downloads, and the user chooses the image.
    "--pull=never",
    `--name=${plan.name}`,
    ...plan.labels.map((label) => `--label=${label}`),
    `--network=${NETWORK[settings.network ?? "on"]}`,
    ...userOptions(engine, user, plan.numbering),
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    ...(plan.tmp === undefined ? [] : ["--read-only"]),
    ...resourceOptions(launch.resources),
    ...mounts,
    `--workdir=${launch.cwd}`,
    ...names.map((name) => `--env=${name}`),
    `--env=HOME=${INSIDE_HOME}`,
    ...(settings.options ?? []),
    settings.image,
    ...(plan.gate === undefined ? program : gated(plan.gate, program)),
  ]);
}

/** Without swap: a program that is slow for ever is worse than one that says why it ended. */
function resourceOptions({ memoryBytes, processes = PROCESSES, cpus }: StageResources = {}): readonly string[] {
  const memory = memoryBytes === undefined ? [] : [`--memory=${memoryBytes}`, `--memory-swap=${memoryBytes}`];
  return [`--pids-limit=${processes}`, ...memory, ...(cpus === undefined ? [] : [`--cpus=${cpus}`])];
}

/** An unprivileged user inside, when Passrail itself is root. */
const INSIDE = 1000;

/**
 * The agent is nobody's root, and what it writes belongs to the user of Passrail. The exceptions: rootless Docker, where root inside is
 * that user; and Docker of root, which knows only the machine's numbers.
 */
function userOptions(engine: EngineName, { uid, gid }: ContainerPlan["user"], numbering: Numbering): readonly string[] {
  const same = `--user=${uid}:${gid}`;
  if (engine === "podman") {
    // Rootless podman maps its own user to root inside unless this option keeps it.
    if (uid !== 0) return [same, "--userns=keep-id"];
    const map = (option: string, id: number) => [`--${option}=${INSIDE}:${id}:1`, `--${option}=0:1:${INSIDE}`];
    return [`--user=${INSIDE}:${INSIDE}`, ...map("uidmap", uid), ...map("gidmap", gid)];
  }
  // Claude Code refuses to work unasked as root, unless it is told that a sandbox surrounds it.
  if (numbering === "rootless") return ["--user=0:0", "--env=IS_SANDBOX=1"];
  // Otherwise the user's number inside is a stranger's outside, who can write nothing.
  return numbering === "remapped" ? [same, "--userns=host"] : [same];
}

const NETWORK = { on: "bridge", off: "none", host: "host" } as const;

/** The option is a line of comma-separated values; null for a path that would break it. */
function mountOption(source: string, target: string): string | null {
  return [source, target].some((path) => /[,"\r\n]/u.test(path)) ? null : `type=bind,source=${source},target=${target}`;
}
