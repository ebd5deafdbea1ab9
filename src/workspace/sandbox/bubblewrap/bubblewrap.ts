// A confining workspace: a clone, and every program in it inside bubblewrap, where the project, the state folder, other workspaces and the
// user's home do not exist. Fails closed: without bubblewrap it opens and starts nothing.

import { rmSync } from "node:fs";
import { homedir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ok } from "../../../core/result.ts";
import { bridgedNetwork, entering } from "../bridge/can-bridge.ts";
import { type Clones, createConfinedWorkspaces } from "../shared/confined.ts";
import type { GitWorkspaces } from "../../git-workspaces.ts";
import type { Launch } from "../../workspace.ts";
import { bubblewrapArguments } from "./arguments.ts";
import { type Bubblewrap, bubblewrapFinder } from "./check.ts";
import { type BubblewrapSettings, lookInside } from "./inside.ts";
import { userInside } from "./user.ts";

export type BubblewrapOptions = Clones & {
  readonly settings: BubblewrapSettings;
  /** Folders shared by all workspaces. */
  readonly caches: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const ATTEND = fileURLToPath(new URL(`./attend-apart${extname(import.meta.url)}`, import.meta.url));

export function createBubblewrapWorkspaces(options: BubblewrapOptions): GitWorkspaces {
  const { home, settings, caches } = options;
  const network = settings.network ?? "on";
  const find = bubblewrapFinder(options.environment, network);
  return createConfinedWorkspaces(options, {
    holds: ["diskBytes"],
    ownNetwork: network === "off" ? bridgedNetwork(options.environment["PATH"] ?? "", null) : undefined,

    async check() {
      const found = await find();
      return found.ok ? ok(null) : found;
    },

    async confine({ workspace, top, own }, launch) {
      const found = await find();
      if (!found.ok) return found;
      const place = { home, top, own, repository: workspace.repository, caches };
      const inside = await lookInside(launch, place, settings, launch.env["HOME"] ?? homedir());
      if (!inside.ok) return inside;
      const { ports = [] } = launch;
      const isBridged = network === "off" && ports.length > 0;
      const { mounts } = inside.value;
      // Bridged, it starts in the network that it is to have.
      const unshares = network === "off" && !isBridged;
      const args = bubblewrapArguments({
        mounts,
        cwd: launch.cwd,
        network: unshares ? "off" : "on",
        user: userInside(),
      });
      const argv = commandLine(found.value, args, launch.argv);
      const nsenter = isBridged ? entering(options.environment["PATH"] ?? "", "bubblewrap") : ok("");
      if (!nsenter.ok) return nsenter;
      const begun = join(own, "begun");
      if (isBridged) rmSync(begun, { force: true });
      return ok({
        ...launch,
        argv: isBridged
          ? [process.execPath, ATTEND, found.value.bwrap, nsenter.value, ports.join(","), begun, ...argv]
          : argv,
        env: { ...launch.env, HOME: inside.value.home, TMPDIR: "/tmp" },
        ...(isBridged ? { begun } : {}),
        // Nothing else can be written but what is shared with others.
        filled: [top, own, ...launch.folders.filter((path) => !caches.includes(path))],
      });
    },
  });
}

/**
 * bwrap itself would exit at the first TERM and kill the program at once. So `env` blocks the signal for bwrap, and the program gets it and
 * has time to save its work. A program with `=` in its name starts without `env`, which would take it for a variable.
 */
function commandLine({ bwrap, env }: Bubblewrap, args: readonly string[], program: Launch["argv"]): Launch["argv"] {
  if (env === null || program[0].includes("=")) return [bwrap, ...args, "--", ...program];
  return [env, "--ignore-signal=TERM", bwrap, ...args, "--", env, "--default-signal=TERM", ...program];
}
