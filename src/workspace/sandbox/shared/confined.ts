// Shared by all confining workspaces: they are clones, so an agent can only damage its own, and nothing opens if the sandbox is not
// available. Each kind adds how to run a program inside.

import { basename, join } from "node:path";
import { optional } from "../../../core/optional.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { locate } from "../../target.ts";
import type { GitWorkspaces } from "../../git-workspaces.ts";
import type { Launch, OwnNetwork, Workspace, Workspaces } from "../../workspace.ts";
import { contains } from "./contains.ts";
import { loginFolder, LOGINS_AT_MOST, openPrivate, PRIVATE_HOME, removePrivate } from "./private-folder.ts";
import { unavailable } from "./unavailable.ts";

export type Clones = {
  /** Their mode is that of the workspaces built on them. */
  readonly clones: GitWorkspaces;
  /** The folder of the clones. */
  readonly root: string;
  /** The state folder. */
  readonly home: string;
};

/** The place where a program is about to start. */
export type ConfinedPlace = {
  readonly workspace: Workspace;
  /** Unique among the workspaces of this state folder. */
  readonly name: string;
  /** The whole clone; the workspace may be a folder in it. */
  readonly top: string;
  /** Passrail's folder for this workspace, outside the clone. */
  readonly own: string;
};

export type Confinement = {
  readonly check: () => Promise<Result<null>>;
  readonly confine: (place: ConfinedPlace, launch: Launch) => Promise<Result<Launch>>;
  readonly ownPrograms?: boolean;
  readonly ownNetwork?: OwnNetwork | undefined;
  readonly holds?: Workspaces["holds"];
  readonly takesOnePrompt?: boolean;
  /** Ends anything that still works there after its program is gone, and brings its work back. Idempotent. */
  readonly end?: (place: ConfinedPlace, why: "crash" | "close") => Promise<Result<null>>;
};

export function createConfinedWorkspaces({ clones, root, home }: Clones, sandbox: Confinement): GitWorkspaces {
  const { check } = sandbox;
  const { mode } = clones;
  const privateRoot = join(home, "confined");
  const end = async (workspace: Workspace, why: "crash" | "close"): Promise<Result<null>> => {
    const place = await locate(root, workspace);
    if (!place.ok || sandbox.end === undefined) return ok(null);
    const { top } = place.value;
    return sandbox.end({ workspace, name: basename(top), top, own: join(privateRoot, basename(top)) }, why);
  };

  return {
    ...clones,
    check,
    ...(sandbox.ownPrograms === true ? { ownPrograms: true } : {}),
    ...(sandbox.takesOnePrompt === true ? { takesOnePrompt: true } : {}),
    ...optional({ ownNetwork: sandbox.ownNetwork, holds: sandbox.holds }),

    async open(request) {
      const can = await check();
      if (!can.ok) return can;
      return clones.open(request);
    },

    async confine(workspace, launch) {
      const can = await check();
      if (!can.ok) return can;
      const place = await locate(root, workspace);
      if (!place.ok) return place;
      const { top } = place.value;
      if (!contains(top, launch.cwd)) {
        const hint = "This is a mistake of Passrail: report it";
        return err(unavailable(mode, `${launch.cwd} is not in the workspace ${top}.`, hint));
      }
      const own = await openPrivate(privateRoot, basename(top));
      return own.ok ? sandbox.confine({ workspace, name: basename(top), top, own: own.value }, launch) : own;
    },

    async privateFolders(workspace) {
      const place = await locate(root, workspace);
      if (!place.ok) return { home: privateRoot, logins: [] };
      const own = join(privateRoot, basename(place.value.top));
      const logins = Array.from({ length: LOGINS_AT_MOST }, (_, index) => join(own, loginFolder(index)));
      return { home: join(own, PRIVATE_HOME), logins };
    },

    async unlock(workspace) {
      const ended = await end(workspace, "crash");
      // Processes that still work there need their locks.
      if (ended.ok) await clones.unlock(workspace);
    },

    async close(workspace, runId, how) {
      const ended = await end(workspace, "close");
      if (!ended.ok) return ended;
      const place = await locate(root, workspace);
      const closed = await clones.close(workspace, runId, how);
      if (closed.ok && place.ok) await removePrivate(join(privateRoot, basename(place.value.top)));
      return closed;
    },
  };
}
