// The first minute on a clean machine: npm, git and Claude Code are there, Passrail is not. The package comes from a registry, the model is
// scripted, everything else is real. And the same machine without any agent.

import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { cliPath, contractTests } from "./installed.ts";
import { isBuilt, type Registry, startRegistry } from "./registry.ts";
import { claude } from "./vendors.ts";

const isLeftOut = contractTests() === "left out" || (process.env["PASSRAIL_CONTRACT"] !== "required" && !isBuilt());
const MB = 1024 ** 2;

describe.skipIf(isLeftOut)("npx passrail on a clean machine", { timeout: 240_000 }, () => {
  let dir: string;
  let registry: Registry;
  let models: FakeModels;
  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-npx-")));
    for (const name of ["person", "project", "bin"]) mkdirSync(join(dir, name));
    symlinkSync(realpathSync(cliPath("claude")), join(dir, "bin/claude"));
    registry = await startRegistry(join(dir, "packages"));
    const submit = (verdict: string) => ({
      do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict, summary: "Done as asked." } } }],
    });
    models = await startFakeModels({
      scenario: {
        rules: [
          {
            id: "build",
            match: { prompt: "# Builder" },
            turns: [{ do: [{ bash: "echo '# Hello' > README.md" }] }, submit("DONE"), { text: "Done." }],
          },
          { id: "review", match: { prompt: "# Reviewer" }, turns: [submit("APPROVED"), { text: "Done." }] },
        ],
      },
    });
    writeFileSync(join(dir, "project/README.md"), "# Helo\n");
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git("commit", "-q", "-m", "first");
  }, 120_000);
  afterAll(async () => {
    await models?.close();
    await registry?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", join(dir, "project"), ...args], {
      encoding: "utf8",
      env: { ...process.env, ...PERSON },
    }).trim();
  const PERSON = {
    GIT_AUTHOR_NAME: "ann",
    GIT_AUTHOR_EMAIL: "ann@localhost",
    GIT_COMMITTER_NAME: "ann",
    GIT_COMMITTER_EMAIL: "ann@localhost",
  };

  type Ended = { readonly code: number; readonly out: string; readonly err: string };

  /** Types a command as it was printed: `npx passrail …`. */
  async function type(command: string, hasAgent: boolean): Promise<Ended> {
    const path = [
      dirname(process.execPath),
      ...(hasAgent ? [join(dir, "bin")] : []),
      "/usr/local/bin",
      "/usr/bin",
      "/bin",
    ];
    const env = {
      ...PERSON,
      PATH: path.join(":"),
      HOME: join(dir, "person"),
      npm_config_registry: registry.url,
      npm_config_cache: join(dir, "npm-cache"),
      npm_config_yes: "true",
      npm_config_update_notifier: "false",
      ...(hasAgent ? claude.setUp("", models.url, "sk-ant-api03-npx00000000000000000000000000000000000") : {}),
    };
    const run = promisify(execFile)("/bin/sh", ["-c", command], { cwd: join(dir, "project"), env, maxBuffer: 16 * MB });
    return run.then(
      ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, out: stdout, err: stderr };
      },
    );
  }

  /** The commands that a text proposes. */
  const proposed = (text: string): readonly string[] =>
    [...text.matchAll(/^ +(npx passrail .*?)(?: {2,}.*)?$/gmu)].map(([, command = ""]) => command);

  test("without an agent it names the install lines and the demo, as commands that work there", async () => {
    const refused = await type('npx passrail "fix the typo in the README"', false);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("no_agent_ready");
    expect(refused.err).toContain("npm install -g @anthropic-ai/claude-code");
    expect(refused.err).toContain("npx passrail demo");
    const demo = await type("npx passrail demo --speed 50 --scripted --no-dashboard", false);
    expect(demo.code).toBe(0);
    expect(`${demo.out}${demo.err}`).toContain("shipped");
    expect(git("rev-list", "--all", "--count")).toBe("1");
  });

  test("with Claude Code one sentence is merged after three commands, each printed by the one before", async () => {
    const since = performance.now();
    const started = await type('npx passrail "fix the typo in the README"', true);
    expect(started).toMatchObject({ code: 3 });
    const approve = proposed(started.err).find((command) => command.includes("gate approve"));
    expect(approve).toBe("npx passrail gate approve 1.1");
    const approved = await type(approve ?? "", true);
    expect(approved).toMatchObject({ code: 0 });
    const merge = proposed(approved.err).find((command) => / merge \d+$/u.test(command));
    expect(merge).toBe("npx passrail merge 1");
    expect(await type(merge ?? "", true)).toMatchObject({ code: 0 });
    const tookMs = performance.now() - since;
    expect(git("show", "main:README.md")).toBe("# Hello");
    const { out } = await type("npx passrail runs show 1 --json", true);
    expect(JSON.parse(out)).toMatchObject({ status: "completed" });
    // The bound is for Passrail's own time; the whole of it, with npm's installation and Claude Code's work, stays below it.
    expect(tookMs).toBeLessThan(60_000);
  });

  test("the package is small: at most 40 packages and 40 MB, and nothing of it runs at its installation", () => {
    const [hash = ""] = readdirSync(join(dir, "npm-cache/_npx"));
    const installed = join(dir, "npm-cache/_npx", hash, "node_modules");
    const { packages } = JSON.parse(readFileSync(join(installed, ".package-lock.json"), "utf8")) as {
      packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    const all = Object.entries(packages);
    expect(all.length).toBeLessThanOrEqual(40);
    // `prepare` runs in a checkout only.
    expect(all.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([name]) => name)).toEqual([]);
    const sizes = readdirSync(installed, { recursive: true, withFileTypes: true }).map((entry) =>
      entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0) / MB).toBeLessThan(40);
    expect(existsSync(join(installed, "passrail/docs/cli.md"))).toBe(true);
  });
});
