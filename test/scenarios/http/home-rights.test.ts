// What lies in the data folder belongs to one user, also where no daemon has set the umask: commands work in the same folder.

import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { openPassrail } from "../../../src/compose.ts";
import { createAudit } from "../../../src/http/server/audit.ts";
import { serve } from "./served.ts";

test("S25: with a umask of 0 everything we write is 0600 and every folder 0700; what agents write lies behind those", async () => {
  const before = process.umask(0);
  const served = await serve();
  try {
    const { home } = served.bench;
    const audit = createAudit(home, { now: served.deps.now, onProblem: (text) => served.problems.push(text) });
    await served.keys.create({ name: "wall", kind: "viewer" });
    const script = { spec: [{ via: "json-tail", verdict: "APPROVED", write: { "a.txt": "1" }, commit: true }] };
    const run = await served.bench.run("feature", script);
    await served.bench.answer(run, "gate", "approve");
    audit.record({ ...NOTE, requestId: null });
    audit.close();
    const open = readdirSync(home, { recursive: true, withFileTypes: true })
      .map((entry) => ({ path: join(entry.parentPath, entry.name), isFolder: entry.isDirectory() }))
      .filter(({ path }) => (statSync(path).mode & 0o077) !== 0)
      .map(({ path }) => relative(home, path));
    // A checkout, what an agent wrote, and what of that was set aside.
    const byAgents = (path: string) => /^worktrees\/.|^runs\/[^/]+\/[^/]+\/(result\/.|rejected-)/.test(path);
    expect(open.filter((path) => !byAgents(path))).toEqual([]);
    for (const name of [".", "passrail.db", "operator.token", "keys.json", "audit.jsonl", "runs", "worktrees"])
      expect([name, statSync(join(home, name)).mode & 0o077]).toEqual([name, 0]);
  } finally {
    process.umask(before);
    await served.close();
  }
});

const NOTE = {
  type: "request.made",
  principal: "operator",
  who: "human:me",
  from: "here",
  what: "POST /",
  status: 200,
  code: null,
} as const;

test("S25: a data folder that others can write to, or that is not ours, is refused before anything is made in it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "passrail-rights-"));
  const home = join(folder, "home");
  const open = () => openPassrail({ home, project: folder, environment: {}, flags: {}, onError: () => {} });
  try {
    mkdirSync(home);
    for (const mode of [0o777, 0o770, 0o1777]) {
      chmodSync(home, mode);
      await expect(open()).rejects.toMatchObject({
        code: "data_dir_unsafe",
        hint: expect.stringContaining("chmod 700"),
      });
    }
    chmodSync(home, 0o700);
    // Only root can give a folder away.
    if (process.getuid?.() === 0) {
      chownSync(home, 12_345, 12_345);
      await expect(open()).rejects.toMatchObject({
        code: "data_dir_unsafe",
        message: expect.stringContaining("another user"),
      });
    }
    expect(readdirSync(home)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
