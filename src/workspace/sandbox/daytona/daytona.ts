// Workspaces in Daytona sandboxes: a clone here, its work carried to a sandbox for each program and back. The first program creates the
// sandbox, all programs of the workspace share it, and closing the workspace always deletes it.

import { createHash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { durationMs } from "../../../core/flow/duration.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import { checkBranchName } from "../../../git/branch-name.ts";
import { readConfig } from "../../../git/git.ts";
import { clonePlace } from "../../clone-repository.ts";
import { type Clones, createConfinedWorkspaces } from "../shared/confined.ts";
import { unavailable } from "../shared/unavailable.ts";
import { variablesInside } from "../shared/variables.ts";
import type { GitWorkspaces } from "../../git-workspaces.ts";
import type { Launch } from "../../workspace.ts";
import type { WorkspaceSettings } from "../../../settings/workspaces.ts";
import { connectDaytona, type Daytona, type DaytonaSandbox } from "./api.ts";
import type { DaytonaAccess } from "./call.ts";
import { pull, whereIsWork } from "./carry.ts";
import { type DaytonaJob, KEY_VARIABLE } from "./job.ts";
import { publicOrigin } from "./origin.ts";
import { endProgram, remoteOf } from "./scripts.ts";
import { optional } from "../../../core/optional.ts";

export type DaytonaOptions = Clones & {
  readonly settings: NonNullable<WorkspaceSettings["daytona"]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const URL_BY_DEFAULT = "https://app.daytona.io/api";
const EXEC = fileURLToPath(new URL(`./exec${extname(import.meta.url)}`, import.meta.url));

export function createDaytonaWorkspaces(options: DaytonaOptions): GitWorkspaces {
  const { home, settings, environment } = options;
  const store = createHash("sha256").update(home).digest("hex").slice(0, 12);
  const compiled = environment["NODE_COMPILE_CACHE"] ?? join(home, "compiled");
  const sandboxOf = (name: string): string => `passrail-${store}-${name}`;
  const access = (): Result<DaytonaAccess> => {
    const variable = settings.key_from ?? "DAYTONA_API_KEY";
    const key = environment[variable];
    if (key === undefined || key === "") {
      return err(
        unavailable("daytona", `${variable} is not set.`, `export ${variable}=…, from app.daytona.io/dashboard/keys`),
      );
    }
    if (settings.image !== undefined && !/^[A-Za-z0-9][\w./:@-]*$/u.test(settings.image)) {
      return err(
        unavailable("daytona", `${JSON.stringify(settings.image)} is no image.`, "Change workspaces.daytona.image"),
      );
    }
    return ok({ url: settings.url ?? environment["DAYTONA_API_URL"] ?? URL_BY_DEFAULT, key });
  };
  return createConfinedWorkspaces(options, {
    ownPrograms: true,
    takesOnePrompt: true,
    ownNetwork:
      settings.reach_passrail === "on"
        ? { type: "bridged" }
        : { type: "apart", why: "its sandbox is on another machine, and workspaces.daytona.reach_passrail is off" },

    async check() {
      const known = access();
      return known.ok ? ok(null) : known;
    },

    async confine({ workspace, name, top, own }, launch) {
      const known = access();
      if (!known.ok) return known;
      const branch = checkBranchName(workspace.branch ?? "");
      if (!branch.ok) return branch;
      const labels = { "passrail.store": store, "passrail.workspace": name };
      const place = { url: known.value.url, name: sandboxOf(name), labels, top, branch: branch.value, own };
      const origin = settings.network === "off" ? undefined : await originOf(top);
      const job = jobOf({ ...place, ...optional({ origin }) }, settings, launch);
      const file = join(own, "job.json");
      await rm(job.begun, { force: true });
      await writeFile(file, JSON.stringify(job), { mode: 0o600 });
      return ok({
        ...launch,
        argv: [process.execPath, EXEC, file],
        // Each attempt starts this program once: compiled code halves that. The sandbox does not get the variable.
        env: { NODE_COMPILE_CACHE: compiled, ...launch.env, [KEY_VARIABLE]: known.value.key },
        begun: job.begun,
      });
    },

    async end({ workspace, name, top, own }, why) {
      const work = await whereIsWork(own);
      const known = access();
      // Without a key Passrail cannot call the API. A sandbox without unreturned work expires at the vendor.
      if (!known.ok) return work === "here" ? ok(null) : known;
      const daytona = connectDaytona(known.value);
      const found = await daytona.find(sandboxOf(name));
      if (!found.ok) return found;
      if (found.value === null) return ok(null);
      if (work === "there") {
        const awake = await awaken(daytona, sandboxOf(name), found.value);
        if (!awake.ok) return awake;
        const sandbox = awake.value;
        const remote = remoteOf(sandboxOf(name));
        const ended = await daytona.run(sandbox, endProgram(remote, "KILL"), 30);
        if (!ended.ok) return ended;
        const carried = { daytona, sandbox, remote, top, branch: workspace.branch ?? "", own };
        const brought = await pull(carried);
        if (!brought.ok) return brought;
      }
      return why === "close" ? daytona.remove(sandboxOf(name)) : ok(null);
    },
  });
}

/** Of the project's remote, which the clone knows. */
async function originOf(top: string): Promise<string | undefined> {
  const place = await clonePlace(top);
  const config = place.ok ? await readConfig(top, place.value) : place;
  const written = config.ok ? config.value.findLast(([key]) => key === "remote.origin.url")?.[1] : undefined;
  return written === undefined ? undefined : publicOrigin(written);
}

type JobPlace = Pick<DaytonaJob, "url" | "name" | "labels" | "top" | "branch" | "own" | "origin">;

function jobOf(place: JobPlace, settings: DaytonaOptions["settings"], launch: Launch): DaytonaJob {
  return {
    ...place,
    machine: machineOf(settings),
    begun: join(place.own, "begun"),
    startMs: settings.start === undefined ? START_MS : durationMs(settings.start),
    cwd: launch.cwd,
    folders: [...launch.folders],
    reads: [...(launch.reads ?? [])],
    ports: [...(launch.ports ?? [])],
    argv: [launch.program, ...launch.argv.slice(1)],
    variables: [...variablesInside(launch.env)],
  };
}

/** Including an image build. */
const START_MS = 15 * 60_000;

function machineOf({
  url: _url,
  key_from: _key,
  start: _start,
  reach_passrail: _reach,
  ...machine
}: DaytonaOptions["settings"]): DaytonaJob["machine"] {
  return optional(machine);
}

/** One that stopped meanwhile still has the work: it is started for it. */
async function awaken(daytona: Daytona, name: string, sandbox: DaytonaSandbox): Promise<Result<DaytonaSandbox>> {
  if (sandbox.state === "started") return ok(sandbox);
  if (sandbox.state !== "stopped") return err(notRunning(name, sandbox.state));
  let found: Result<DaytonaSandbox | null> = await daytona.start(sandbox);
  for (const deadline = performance.now() + AWAKE_MS; ; await delay(POLL_MS)) {
    if (!found.ok) return found;
    if (found.value?.state === "started") return ok(found.value);
    if (performance.now() > deadline) return err(notRunning(name, found.value?.state ?? "gone"));
    found = await daytona.find(name);
  }
}

const AWAKE_MS = 60_000;
const POLL_MS = 500;

const notRunning = (sandbox: string, state: string): Problem =>
  unavailable(
    "daytona",
    `the sandbox ${sandbox} is ${state}, and work that was not brought back is in it.`,
    "Start it in Daytona's dashboard, or delete it there to give the work up",
  );
