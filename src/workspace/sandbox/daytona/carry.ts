// Carries a clone's work to a sandbox and back: only git objects cross, and the hardened git writes the files here. What the sandbox has already
// stays where it is, and of a long history the last commits are enough. The returned work replaces the clone's state once per program: a note
// records whether that is still to do.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { clonePlace } from "../../clone-repository.ts";
import { git } from "../../../git/git.ts";
import { commitWork } from "../../../git/pin.ts";
import type { Daytona, DaytonaSandbox } from "./api.ts";
import { packFor, type There } from "./pack.ts";
import { cloneInside, handOver, openPlace, type Remote, takeOver } from "./scripts.ts";

export type Carried = {
  readonly daytona: Daytona;
  readonly sandbox: DaytonaSandbox;
  readonly remote: Remote;
  /** The clone. */
  readonly top: string;
  readonly branch: string;
  /** Passrail's folder for packs and the note. */
  readonly own: string;
};

const BUNDLE_BYTES = 1024 * 1024 * 1024;
const GIT_MS = 600_000;
const REMOTE_SECONDS = 600;
/** A remote that does not answer must not cost an attempt its patience. */
const CLONE_SECONDS = 120;

/** `origin`: where the sandbox itself may fetch what the project's remote has; undefined: nowhere. */
export async function push(carried: Carried, origin: string | undefined): Promise<Result<null>> {
  const { daytona, sandbox, remote, top, branch, own } = carried;
  const there = await openThere(carried, origin);
  if (!there.ok) return there;
  const place = await clonePlace(top);
  if (!place.ok) return place;
  const options = { place: place.value };
  const head = await git(top, ["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"], options);
  if (!head.ok) return head;
  const work = await commitWork(place.value, { from: "index" }, head.value.trim(), "carried-to-daytona");
  if (!work.ok) return work;
  const tips = { head: head.value.trim(), work: work.value };
  const pack = await packFor(place.value, own, tips, there.value);
  if (!pack.ok) return pack;
  const { file, shallow } = pack.value;
  const sent = await daytona.upload(sandbox, `${remote.root}/push.pack`, await openAsBlob(file));
  await rm(file, { force: true });
  if (!sent.ok) return sent;
  const taken = await daytona.run(sandbox, takeOver(remote, branch, { ...tips, shallow }), REMOTE_SECONDS);
  if (!taken.ok) return taken;
  if (taken.value.exitCode !== 0) return err(carryProblem("could not be put into the sandbox", taken.value.output));
  await note(own, "there");
  return ok(null);
}

/** From now on a program may start there. A sandbox without a repository fetches one, if it can. */
async function openThere({ daytona, sandbox, remote }: Carried, origin: string | undefined): Promise<Result<There>> {
  const opened = await daytona.run(sandbox, openPlace(remote), 30);
  if (!opened.ok) return opened;
  const there = toldBy(opened.value.output);
  if (there.commits.length > 0 || origin === undefined) return ok(there);
  // Private, unknown there, or too slow: everything is sent from here.
  const cloned = await daytona.run(sandbox, cloneInside(remote, origin), CLONE_SECONDS);
  return ok(cloned.ok && cloned.value.exitCode === 0 ? toldBy(cloned.value.output) : there);
}

function toldBy(output: string): There {
  const told = (what: string): readonly string[] =>
    Array.from(output.matchAll(new RegExp(`^passrail-${what} ([0-9a-f]{40,64})$`, "gmu")), ([, name = ""]) => name);
  return { commits: told("has").slice(0, NAMES_AT_MOST), shallow: told("shallow").slice(0, NAMES_AT_MOST) };
}

const NAMES_AT_MOST = 2_000;

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
    const file = join(own, "pull.bundle");
    await rm(file, { force: true });
    const got = await daytona.download(sandbox, `${remote.root}/pull.bundle`, file, BUNDLE_BYTES);
    const taken = got.ok ? await git(top, ["bundle", "unbundle", file], { ...options, timeoutMs: GIT_MS }) : got;
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
