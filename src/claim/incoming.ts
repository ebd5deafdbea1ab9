// The bundle of an attempt's commits while it arrives, and what becomes of it: a ref of the node's repository, and the next commit of the
// run's branch. The worker's word decides neither: the commits must build on the one that the attempt began at.

import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { isLine, takeBundle } from "../git/carried-commits.ts";

const MOST_BYTES = 2 * 1024 * 1024 * 1024;

export type IncomingCommits = {
  write(offset: number, data: Buffer): void;
  /** Checks them and puts them into the repository; nothing if the work is where it began. */
  take(wanted: IncomingWork): Promise<Result<null>>;
  remove(): void;
};

export type IncomingWork = {
  readonly repository: string;
  readonly ref: string;
  readonly from: string;
  readonly tip: string;
  readonly work: string;
};

export function openIncoming(home: string, claim: string): IncomingCommits {
  const folder = join(home, "incoming");
  const file = join(folder, `${claim}.bundle`);
  let isTooLarge = false;
  return {
    write(offset, data) {
      if (offset + data.length > MOST_BYTES) isTooLarge = true;
      if (isTooLarge) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_TRUNC } = constants;
      const fd = openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW | (offset === 0 ? O_TRUNC : 0), 0o600);
      try {
        writeSync(fd, data, 0, data.length, offset);
      } finally {
        closeSync(fd);
      }
    },
    async take({ repository, ref, from, tip, work }) {
      if (isTooLarge) return err(refusal(`they are larger than ${MOST_BYTES} bytes`));
      if (work !== from) {
        const taken = await takeBundle({ repository, ref, commit: work, file });
        if (!taken.ok) return taken;
      }
      if (!(await isLine(repository, [from, tip, work])))
        return err(refusal(`they do not build on ${from.slice(0, 12)}; they are kept under ${ref}`));
      return ok(null);
    },
    remove: () => rmSync(file, { force: true }),
  };
}

const refusal = (why: string) => ({
  code: "commits_refused",
  message: `The commits of a worker were not taken: ${why}`,
});
