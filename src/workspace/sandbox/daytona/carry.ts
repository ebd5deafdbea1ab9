// Carries a clone's work to a sandbox and back as git bundles: only git objects cross, and the hardened git writes the files here.
// The returned work replaces the clone's state once per program: a note records whether that is still to do.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { clonePlace } from "../../clone-repository.ts";
import { git } from "../../../git/git.ts";
import { commitWork } from "../../../git/pin.ts";
import type { Daytona, DaytonaSandbox } from "./api.ts";
import { handOver, type Remote, takeOver } from "./scripts.ts";

export type Carried = {
  readonly daytona: Daytona;
  readonly sandbox: DaytonaSandbox;
  readonly remote: Remote;
  /** The clone. */
  readonly top: string;
  readonly branch: string;
  /** Passrail's folder for bundles and the note. */
  readonly own: string;
};

const BUNDLE_BYTES = 1024 * 1024 * 1024;
const GIT_MS = 600_000;
const REMOTE_SECONDS = 600;

export async function push({ daytona, sandbox, remote, top, branch, own }: Carried): Promise<Result<null>> {
  const place = await clonePlace(top);
  if (!place.ok) return place;
  const options = { place: place.value };
  const head = await git(top, ["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"], options);
  if (!head.ok) return head;
  const work = await commitWork(place.value, { from: "index" }, head.value.trim(), "carried-to-daytona");
  if (!work.ok) return work;
  const input = `update refs/passrail/push/head ${head.value.trim()}\nupdate refs/passrail/push/work ${work.value}\n`;
  const named = await git(top, ["update-ref", "--stdin"], { ...options, input });
  if (!named.ok) return named;
  const file = join(own, "push.bundle");
  const refs = ["refs/passrail/push/head", "refs/passrail/push/work"];
  const bundled = await git(top, ["bundle", "create", "--quiet", file, ...refs], { ...options, timeoutMs: GIT_MS });
  if (!bundled.ok) return bundled;
  const sent = await daytona.upload(sandbox, `${remote.root}/push.bundle`, await readFile(file));
  await rm(file, { force: true });
  if (!sent.ok) return sent;
  const taken = await daytona.run(sandbox, takeOver(remote, branch), REMOTE_SECONDS);
  if (!taken.ok) return taken;
  if (taken.value.exitCode !== 0) return err(carryProblem("could not be put into the sandbox", taken.value.output));
  await note(own, "there");
  return ok(null);
}

/** Makes the clone equal to the sandbox: the branch at its head, and uncommitted work in the files. */
export async function pull({ daytona, sandbox, remote, top, branch, own }: Carried): Promise<Result<null>> {
  const handed = await daytona.run(sandbox, handOver(remote), REMOTE_SECONDS);
  if (!handed.ok) return handed;
  const said = /^passrail-work ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (yes|no)$/mu.exec(handed.value.output);
  const [, head, work, bundle] = said ?? [];
  if (head === undefined || work === undefined) {
    return err(carryProblem("could not be brought back", handed.value.output));
  }
  const place = await clonePlace(top);
  if (!place.ok) return place;
  const options = { place: place.value };
  if (bundle === "yes") {
    const bytes = await daytona.download(sandbox, `${remote.root}/pull.bundle`, BUNDLE_BYTES);
    if (!bytes.ok) return bytes;
    const file = join(own, "pull.bundle");
    await writeFile(file, bytes.value, { mode: 0o600 });
    const taken = await git(top, ["bundle", "unbundle", file], { ...options, timeoutMs: GIT_MS });
    await rm(file, { force: true });
    if (!taken.ok) return taken;
  }
  // Kept by name first: from here on nothing can be lost.
  const input = `update refs/passrail/pull/head ${head}\nupdate refs/passrail/pull/work ${work}\n`;
  const steps: readonly (readonly [readonly string[], object])[] = [
    [["update-ref", "--stdin"], { input }],
    // These files were sent to the sandbox before, so it may change and remove them.
    [["add", "--all"], { touchesFiles: true }],
    [["read-tree", "--reset", "-u", work], { touchesFiles: true, timeoutMs: GIT_MS }],
    [["update-ref", "--no-deref", `refs/heads/${branch}`, head], {}],
    [["symbolic-ref", "HEAD", `refs/heads/${branch}`], {}],
    [["read-tree", head], { touchesFiles: true }],
  ];
  for (const [args, more] of steps) {
    const done = await git(top, args, { ...options, ...more });
    if (!done.ok) return done;
  }
  await note(own, "here");
  return ok(null);
}

/** The place with the newest state of the work. */
export async function whereIsWork(own: string): Promise<"here" | "there"> {
  const said = await readFile(join(own, "work"), "utf8").catch(() => "here");
  return said === "there" ? "there" : "here";
}

async function note(own: string, where: "here" | "there"): Promise<void> {
  await writeFile(join(own, "work.new"), where, { mode: 0o600, flush: true });
  await rename(join(own, "work.new"), join(own, "work"));
}

const carryProblem = (what: string, output: string) => ({
  code: "daytona_carry",
  message: `The work ${what}: ${output.trim().split("\n").slice(-3).join(" / ").slice(0, 400)}`,
  hint: "The image needs git, a shell, base64 and setsid",
});
