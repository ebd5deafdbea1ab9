// A workspace that confines: a clone of its own, and every program in it inside bubblewrap, where the project, the state folder, other
// workspaces and the user's home do not exist. Fails closed: without bubblewrap nothing is opened and nothing is started.

import { homedir } from "node:os";
import { basename, join } from "node:path";
import { err, ok } from "../../core/result.ts";
import { locate } from "../target.ts";
import type { Launch, Workspace, Workspaces } from "../workspace.ts";
import { bubblewrapArguments } from "./arguments.ts";
import { type Bubblewrap, bubblewrapFinder, unavailable } from "./check.ts";
import { type BubblewrapSettings, lookInside } from "./inside.ts";
import { openPrivate, removePrivate } from "./private-folder.ts";
import { contains } from "./program.ts";

export type BubblewrapOptions = {
  /** What the workspaces are made of, and the folder that they lie in. */
  readonly clones: Workspaces;
  readonly root: string;
  /** The state folder. */
  readonly home: string;
  readonly settings: BubblewrapSettings;
  /** Folders that all workspaces share. */
  readonly caches: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export function createBubblewrapWorkspaces(options: BubblewrapOptions): Workspaces {
  const { clones, root, home, settings } = options;
  const network = settings.network ?? "on";
  const find = bubblewrapFinder(options.environment, network);
  const asClone = (workspace: Workspace): Workspace => ({ ...workspace, mode: "clone" });
  const privateRoot = join(home, "confined");

  return {
    mode: "bubblewrap",

    async check() {
      const found = await find();
      return found.ok ? ok(null) : found;
    },

    async open(request) {
      const found = await find();
      if (!found.ok) return found;
      const opened = await clones.open(request);
      return opened.ok ? ok({ ...opened.value, mode: "bubblewrap" }) : opened;
    },

    async confine(workspace, launch) {
      const found = await find();
      if (!found.ok) return found;
      const place = await locate(root, workspace);
      if (!place.ok) return place;
      const { top } = place.value;
      if (!contains(top, launch.cwd)) {
        return err(
          unavailable(`${launch.cwd} is not in the workspace ${top}.`, "This is a mistake of Passrail: report it"),
        );
      }
      const own = await openPrivate(privateRoot, basename(top));
      if (!own.ok) return own;
      const { repository } = workspace;
      const inside = await lookInside(
        launch,
        { home, top, own: own.value, repository, caches: options.caches },
        settings,
        launch.env["HOME"] ?? homedir(),
      );
      if (!inside.ok) return inside;
      const args = bubblewrapArguments({ mounts: inside.value.mounts, cwd: launch.cwd, network });
      return ok({
        ...launch,
        argv: commandLine(found.value, args, launch.argv),
        env: { ...launch.env, HOME: inside.value.home, TMPDIR: "/tmp" },
      });
    },

    head: (workspace) => clones.head(asClone(workspace)),
    diff: (workspace, from) => clones.diff(asClone(workspace), from),
    unlock: (workspace) => clones.unlock(asClone(workspace)),

    async close(workspace, runId) {
      const place = await locate(root, workspace);
      const closed = await clones.close(asClone(workspace), runId);
      if (closed.ok && place.ok) await removePrivate(join(privateRoot, basename(place.value.top)));
      return closed;
    },
  };
}

/**
 * bwrap itself would fall over at the first TERM and take the program with it at once. So it does not hear it, and the program does: it gets
 * its moment to save what it has. `env` would take a name with `=` for a variable.
 */
function commandLine(
  { bwrap, env }: Bubblewrap,
  args: readonly string[],
  program: Launch["argv"],
): readonly [string, ...string[]] {
  if (env === null || program[0].includes("=")) return [bwrap, ...args, "--", ...program];
  return [env, "--ignore-signal=TERM", bwrap, ...args, "--", env, "--default-signal=TERM", ...program];
}
