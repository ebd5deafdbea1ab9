// Whether bubblewrap can confine a program on this machine. Found out by trying: namespaces can be forbidden in too many ways to guess.
// Only a yes is cached: after a no, people fix the cause and retry.

import { execFile } from "node:child_process";
import { err, ok, type Result } from "../../../core/result.ts";
import { findOnPath } from "../shared/find-on-path.ts";
import { unavailable } from "../shared/unavailable.ts";
import { NAMESPACES } from "./arguments.ts";

export type Bubblewrap = {
  /** Absolute. */
  readonly bwrap: string;
  /** GNU env, which can keep TERM away from bwrap; null for another env: then a program has no time to exit cleanly. */
  readonly env: string | null;
};

const PROBE_MS = 20_000;
const ENV = "/usr/bin/env";

export function bubblewrapFinder(
  environment: Readonly<Record<string, string | undefined>>,
  network: "on" | "off",
  platform: string = process.platform,
): () => Promise<Result<Bubblewrap>> {
  let found: Bubblewrap | undefined;
  return async () => {
    if (found !== undefined) return ok(found);
    if (platform !== "linux") {
      return err(unavailable("bubblewrap", `bubblewrap exists only on Linux, this is ${platform}.`, OTHER_SANDBOX));
    }
    const bwrap = findOnPath(environment["PATH"] ?? "", "bwrap");
    if (bwrap === undefined) {
      return err(unavailable("bubblewrap", "the program bwrap was not found on the PATH.", `Install it: ${INSTALL}`));
    }
    const args = [...NAMESPACES, ...(network === "off" ? ["--unshare-net"] : []), ...WHOLE_MACHINE, "--", ENV, "true"];
    const refused = await tryOut(bwrap, args);
    if (refused !== null)
      return err(unavailable("bubblewrap", `${bwrap} could not make a sandbox: ${refused}`, hintFor(refused)));
    const graceful = await tryOut(ENV, ["--ignore-signal=TERM", ENV, "--default-signal=TERM", "true"]);
    found = { bwrap, env: graceful === null && !bwrap.includes("=") ? ENV : null };
    return ok(found);
  };
}

const OTHER_SANDBOX = "Choose another sandbox: workspaces.sandbox: docker (or clone, which confines nothing)";
const INSTALL = "sudo apt install bubblewrap, sudo dnf install bubblewrap, or sudo pacman -S bubblewrap";
const WHOLE_MACHINE = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];

/** Null if it worked, else its error message. */
function tryOut(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: PROBE_MS, killSignal: "SIGKILL", env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }, maxBuffer: 64 * 1024 },
      (error, _stdout, stderr) => {
        if (error === null) return resolve(null);
        const said = stderr.trim().split("\n").at(-1) ?? "";
        resolve(said === "" ? error.message.slice(0, 300) : said.slice(0, 300));
      },
    );
  });
}

/** Common refusals, and how to fix each. */
function hintFor(refused: string): string {
  if (/namespace|uid map|Operation not permitted|Permission denied|No permissions/iu.test(refused)) {
    return (
      "User namespaces are forbidden here. Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0; " +
      "older Debian: sudo sysctl kernel.unprivileged_userns_clone=1; in a container: start it with --security-opt seccomp=unconfined"
    );
  }
  return `Try it by hand: bwrap ${NAMESPACES.join(" ")} ${WHOLE_MACHINE.join(" ")} true`;
}
