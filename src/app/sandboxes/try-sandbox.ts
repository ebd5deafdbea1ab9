// `sandbox test`: starts a real program in a sandbox, in a repository made for it, and says what an agent would find there. Everything is
// removed afterwards.

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { LADDER_RUNNERS } from "../../core/flow/runner-names.ts";
import type { ConfiningMode } from "../../core/flow/workspace-mode.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { git } from "../../git/git.ts";
import { createCommandRunner } from "../../runner/command.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import { createWorkspaces } from "../../workspace/providers.ts";
import type { Workspace, Workspaces } from "../../workspace/workspace.ts";

export type TriedSandbox = {
  readonly kind: ConfiningMode;
  /** From the request to the end of a program that only answers. */
  readonly ms: number;
  /** The number of the user inside; 0 is root. */
  readonly user: number;
  /** Null: not inside. */
  readonly git: string | null;
  /** The coding agents that are found inside. */
  readonly agents: readonly string[];
  /** Why Passrail's desk and gateway cannot be reached from inside; null: they can. */
  readonly apart: string | null;
  /** A file written inside arrived outside. */
  readonly keepsWork: boolean;
};

/** Also for a machine of Daytona that is made first. */
const LIMIT_MS = 10 * 60_000;
const WRITTEN = "passrail-sandbox-test";

export async function trySandbox(
  kind: ConfiningMode,
  { workspaces: settings }: Pick<Settings, "workspaces">,
  environment: Environment,
): Promise<Result<TriedSandbox>> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "passrail-sandbox-")));
  try {
    const home = join(dir, "state");
    // The project's own preparations are not what is tried here.
    const workspaces = createWorkspaces({ home, settings: { ...settings, setup: [], copy: [] }, environment })(kind);
    const project = await newProject(join(dir, "project"));
    if (!project.ok) return project;
    const opened = await workspaces.open({ runId: "test", project: project.value, branch: "passrail/test" });
    if (!opened.ok) return opened;
    try {
      return await answerFrom(kind, workspaces, opened.value, dir, environment);
    } finally {
      await workspaces.close(opened.value, "test");
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function newProject(path: string): Promise<Result<string>> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "README.md"), "A repository for passrail sandbox test\n");
  const who = ["-c", "user.name=Passrail", "-c", "user.email=passrail@localhost"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...who, "commit", "-q", "-m", "Start"],
  ]) {
    const done = await git(path, args);
    if (!done.ok) return done;
  }
  return ok(path);
}

/** One line per fact; plain sh, because the image may have nothing else. */
const QUESTIONS = [
  'while read -r name id rest; do [ "$name" = "Uid:" ] && echo "user $id"; done < /proc/self/status',
  'command -v git >/dev/null && echo "git $(git --version)"',
  ...LADDER_RUNNERS.map((name) => `command -v ${name} >/dev/null && echo "agent ${name}"`),
  `echo work > ${WRITTEN}`,
  "exit 0",
].join("\n");

async function answerFrom(
  kind: ConfiningMode,
  workspaces: Workspaces,
  workspace: Workspace,
  dir: string,
  environment: Environment,
): Promise<Result<TriedSandbox>> {
  const { confine, ownPrograms, ownNetwork } = workspaces;
  if (confine === undefined) return err({ code: "sandbox_unavailable", message: `${kind} confines nothing.` });
  // Where the way to it cannot be opened, the program does not begin.
  const service = await openService();
  const ports = ownNetwork?.type === "bridged" ? [service.port] : [];
  const startedAt = performance.now();
  const end = await createCommandRunner().run(
    {
      marker: `passrail-sandbox-test-${randomBytes(8).toString("hex")}`,
      argv: ["/bin/sh", "-c", QUESTIONS],
      cwd: workspace.dir,
      prompt: "",
      env: { PATH: environment["PATH"] ?? "", HOME: environment["HOME"] ?? dir },
      outputPath: join(dir, "output.log"),
      limits: { totalMs: LIMIT_MS, outputBytes: 100_000, graceMs: 5_000 },
      confine: async (launch) => confine(workspace, { ...launch, folders: [], ports }),
      ...(ownPrograms === true ? { ownPrograms } : {}),
    },
    { signal: new AbortController().signal },
  );
  const ms = Math.round(performance.now() - startedAt);
  service.close();
  const lines = end.stdoutTail.split("\n");
  const said = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1).trim());
  const [user] = said("user");
  if (end.reason !== "exited" || end.exitCode !== 0 || user === undefined || !/^[0-9]{1,10}$/u.test(user)) {
    const why = end.stderrTail.trim().split("\n").at(-1) ?? "";
    const hint = "passrail sandbox list   says what each one needs";
    return err({ code: "sandbox_unavailable", message: `${kind}: no program could be started inside. ${why}`, hint });
  }
  const keepsWork = (await workspaces.diff(workspace, await workspaces.head(workspace))).includes(WRITTEN);
  const apart = ownNetwork?.type === "apart" ? ownNetwork.why : null;
  return ok({ kind, ms, user: Number(user), git: said("git")[0] ?? null, agents: said("agent"), apart, keepsWork });
}

async function openService(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((socket) => void socket.destroy());
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
