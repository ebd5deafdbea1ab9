// The changes since a commit, including uncommitted and untracked files: the text for reviewers and people at a gate.
// It must never look empty because of a failure: a marker line names missing parts.

import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { type LargeFile, nameOf, WORK_LIMITS, type WorkLimits } from "./large-files.ts";
import { factsOfCommit } from "./known-commits.ts";
import { forgetShown } from "./shown-index.ts";
import { keepForCommit, type Snapshot, withSnapshot } from "./snapshot.ts";

const DIFF_BYTES = 2 * 1024 * 1024;

const FORMAT = ["--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--submodule=short"];
const PREFIX = ["--src-prefix=a/", "--dst-prefix=b/"];

export type DiffHow = {
  readonly limits?: WorkLimits;
  /** Whether Passrail commits in this work tree: it is not the user's own. */
  readonly commits?: boolean;
};

/** A unified diff of the files below `dir`, at most `DIFF_BYTES` and one marker line. */
export async function diffSince(
  place: GitLocation,
  dir: string,
  from: string | null,
  { limits = WORK_LIMITS, commits = false }: DiffHow = {},
): Promise<string> {
  const text = await withSnapshot(
    { place, dir, start: { from: "index" }, keep: commits ? "memory" : "nowhere", limits },
    async (snapshot) => {
      const { nested, large, incomplete } = snapshot;
      if (isUnchanged(snapshot, from)) {
        await keepForCommit(place, snapshot);
        return ok("");
      }
      const start = from === null ? await emptyTree(place) : checkRevision(from);
      if (!start.ok) return start;
      // One byte beyond the limit distinguishes "exactly full" from "cut".
      const cut = { maxBytes: DIFF_BYTES + 1, overflow: "cut" } as const;
      const args = ["diff", ...FORMAT, ...PREFIX, "--end-of-options", start.value, "--", "."];
      const [shown] = await Promise.all([
        git(dir, args, { place, env: snapshot.env(), ...cut }),
        keepForCommit(place, snapshot),
      ]);
      // Only what git could show whole is committed without another look.
      if (!shown.ok || Buffer.byteLength(shown.value) > DIFF_BYTES) forgetShown(place.gitDir);
      if (!shown.ok) return shown;
      const missing = incomplete === null ? "" : `[passrail: some files could not be read: ${incomplete}]\n`;
      return ok(capped(shown.value) + nested.map(nestedMarker).join("") + large.map(largeMarker).join("") + missing);
    },
  );
  return text.ok ? text.value : `[passrail: the diff could not be made: ${text.error.message}]\n`;
}

/** git has written this very tree, and the commit has it. */
function isUnchanged({ tree, incomplete }: Snapshot, from: string | null): boolean {
  return tree !== null && from !== null && incomplete === null && factsOfCommit(from)?.tree === tree;
}

function capped(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= DIFF_BYTES) return text;
  const whole = bytes.subarray(0, bytes.lastIndexOf(10, DIFF_BYTES - 1) + 1).toString("utf8");
  return `${whole}[passrail: the diff was cut here, it is larger than ${DIFF_BYTES} bytes]\n`;
}

function nestedMarker(path: string): string {
  const name = JSON.stringify(Buffer.from(path, "latin1").toString("utf8"));
  return `[passrail: ${name} is a repository of its own, changes inside it are not shown]\n`;
}

function largeMarker({ path, bytes }: LargeFile): string {
  return `[passrail: ${JSON.stringify(nameOf(path))} has ${bytes} bytes, too many to be shown]\n`;
}

async function emptyTree(place: GitLocation): Promise<Result<string>> {
  const made = await git(place.top, ["hash-object", "-t", "tree", "--stdin"], { place });
  return made.ok ? ok(made.value.trim()) : made;
}

function checkRevision(name: string): Result<string> {
  if (/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/u.test(name) && !name.includes("..")) return ok(name);
  return err({ code: "invalid_revision", message: `${JSON.stringify(name.slice(0, 120))} does not name a commit.` });
}
