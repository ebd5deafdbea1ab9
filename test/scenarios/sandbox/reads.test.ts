// Folders that a confined program may only read: the handoffs of the stages before it.

import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { removeTempDirs, tempDir } from "../../../src/workspace/workspace.testsuite.ts";
import { type Bench, openConfined } from "./bench.ts";
import { bubblewrapTests, whyLeftOut } from "./can-confine.ts";

afterEach(removeTempDirs);

function handoffIn(bench: Bench): { readonly folder: string; readonly file: string } {
  const folder = join(bench.home, "channels", "one", "handoffs");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "dev-1.md");
  writeFileSync(file, "## Status\n\ncomplete\n");
  return { folder, file };
}

describe.skipIf(bubblewrapTests === "left out")(`bubblewrap${whyLeftOut}`, { timeout: 60_000 }, () => {
  test("R-002-34: a program reads the handoffs given to it, changes none of them, and sees nothing else of the state folder", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const { folder, file } = handoffIn(bench);
    const line = `cat ${file}; echo forged > ${file} || echo kept; echo new > ${folder}/new.md || echo closed; cat ${bench.home}/token || echo unseen`;
    const end = await bench.sh(workspace, line, { reads: [folder] });
    expect(end).toMatchObject({ reason: "exited", exitCode: 0 });
    expect(end.stdoutTail).toBe("## Status\n\ncomplete\nkept\nclosed\nunseen\n");
    expect(readFileSync(file, "utf8")).toContain("complete");
    expect(existsSync(join(folder, "new.md"))).toBe(false);
    const without = await bench.sh(workspace, `cat ${file}`);
    expect(without.exitCode).not.toBe(0);
  });
});

describe.each(["docker", "podman"] as const)("%s", { timeout: 60_000 }, (engine) => {
  test("R-002-34: the container shows them read-only at the path that the prompt names", async () => {
    const bin = await tempDir();
    copyFileSync(join(import.meta.dirname, "../../fixtures/containers/engine.mjs"), join(bin, engine));
    chmodSync(join(bin, engine), 0o755);
    const state = join(bin, `${engine}-state`);
    mkdirSync(join(state, "containers"), { recursive: true });
    const bench = await openConfined(
      engine,
      { docker: { image: "agents:1" } },
      { PATH: `${bin}:${process.env["PATH"]}` },
    );
    const { folder } = handoffIn(bench);
    await bench.sh(await bench.open(), "true", { reads: [folder] });
    const calls = readFileSync(join(state, "calls.jsonl"), "utf8").trim().split("\n");
    const run = calls.map((call) => JSON.parse(call) as string[]).find(([command]) => command === "run") ?? [];
    expect(run).toContain(`type=bind,source=${folder},target=${folder},readonly`);
    expect(run).not.toContain(`type=bind,source=${folder},target=${folder}`);
    expect(run.some((option) => option.includes(`source=${bench.home},`))).toBe(false);
  });
});
