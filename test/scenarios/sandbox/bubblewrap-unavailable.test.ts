// Where bubblewrap cannot be had, nothing is opened and nothing is started.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bubblewrapFinder } from "../../../src/workspace/sandbox/bubblewrap/check.ts";
import { removeTempDirs, tempDir } from "../../../src/workspace/workspace.testsuite.ts";
import { openConfined } from "./bench.ts";

afterEach(removeTempDirs);

test("without the program nothing is opened, and the command that installs it is named", async () => {
  const bench = await openConfined("bubblewrap", {}, { PATH: join(await tempDir(), "empty") });
  const problem = { code: "sandbox_unavailable", hint: expect.stringContaining("apt install bubblewrap") };
  expect(await bench.workspaces.check?.()).toMatchObject({ ok: false, error: problem });
  const opened = await bench.workspaces.open({ runId: "r1", project: bench.project, branch: "feat/a" });
  expect(opened).toMatchObject({ ok: false, error: problem });
  const workspace = { mode: "bubblewrap", dir: join(bench.home, "clones", "r1"), lockKeys: [] } as const;
  const launch = { argv: ["/bin/true"], program: "true", cwd: workspace.dir, env: {}, folders: [] } as const;
  expect(await bench.workspaces.confine?.(workspace, launch)).toMatchObject({ ok: false, error: problem });
});

test("a machine that forbids user namespaces is told from one without the program, and asked again after it was repaired", async () => {
  const dir = await tempDir();
  const bin = join(dir, "bin");
  mkdirSync(bin);
  const says = (text: string, exit: number): void => {
    writeFileSync(join(bin, "bwrap"), `#!/bin/sh\necho '${text}' >&2\nexit ${exit}\n`);
    chmodSync(join(bin, "bwrap"), 0o755);
  };
  const find = bubblewrapFinder({ PATH: bin }, "on");
  says("bwrap: setting up uid map: Permission denied", 1);
  const refused = await find();
  expect(refused).toMatchObject({
    ok: false,
    error: {
      code: "sandbox_unavailable",
      message: expect.stringContaining("setting up uid map"),
      hint: expect.stringContaining("sysctl"),
    },
  });
  says("", 0);
  expect(await find()).toMatchObject({ ok: true, value: { bwrap: join(bin, "bwrap") } });
});

test("other systems than Linux have none, and are told what else there is", async () => {
  const find = bubblewrapFinder({ PATH: process.env["PATH"] }, "on", "darwin");
  expect(await find()).toMatchObject({
    ok: false,
    error: { code: "sandbox_unavailable", hint: expect.stringContaining("docker") },
  });
});
