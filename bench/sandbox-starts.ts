// The start of a sandbox beside its plain program, in turns: ours, and `bwrap` or `podman run` with the same shell and the same isolation, which
// is the same words: namespaces, mounts, user, limits and no network. Ours also finds out what to mount, looks for what a crash left, lets a
// program save its work, and stays beside the container; with the way to Passrail it opens that, too. What the isolation itself costs is the row
// beside a bare one, which shows the whole machine or keeps the image's root. A kind that this machine lacks has no row. `node sandbox-starts.js FOLDER` prints the rows as JSON; `sandboxes.ts` builds it as it is published.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createWorkspaces } from "../src/workspace/providers.ts";
import type { Launch, Workspace, Workspaces } from "../src/workspace/workspace.ts";
import { inFolder, median, ratio, type Row, sample } from "./measure.ts";

const ROUNDS = 25;
const WARM = 2;
const IMAGE = "localhost/passrail-bench:1";
const SHELL = ["/bin/sh", "-c", "exit 0"] as const;
const BUBBLEWRAP = "--unshare-all --die-with-parent --ro-bind / / --proc /proc --dev /dev --";
const PODMAN = "run --rm --init --network=none --cap-drop=ALL --pull=never";

type Kind = "bubblewrap" | "podman";

async function rowsIn(dir: string): Promise<Row[]> {
  const conf = join(dir, "containers.conf");
  const engine = ['runtime = "runc"', 'cgroup_manager = "cgroupfs"', 'events_logger = "none"'];
  const limits = 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]';
  writeFileSync(conf, ["[containers]", limits, "[engine]", ...engine].join("\n"));
  const env = { ...process.env, CONTAINERS_CONF: conf };
  const project = join(dir, "project");
  execFileSync("git", ["init", "-q", project]);
  const who = ["-c", "user.name=b", "-c", "user.email=b@localhost"];
  execFileSync("git", ["-C", project, ...who, "commit", "-q", "--allow-empty", "-m", "start"]);
  const rows: Row[] = [];
  if (has("bwrap")) rows.push(...(await startsOf("bubblewrap", dir, env, ["bwrap", ...BUBBLEWRAP.split(" ")])));
  if (has("podman") && has("runc") && has("busybox")) {
    importImage(dir, env);
    try {
      rows.push(...(await startsOf("podman", dir, env, ["podman", ...PODMAN.split(" "), IMAGE])));
    } finally {
      spawnSync("podman", ["image", "rm", "--force", IMAGE], { env });
    }
  }
  return rows;
}

async function startsOf(
  kind: Kind,
  dir: string,
  env: NodeJS.ProcessEnv,
  [program = "", ...args]: readonly string[],
): Promise<Row[]> {
  const settings = {
    sandbox: kind,
    bubblewrap: { network: "off" as const },
    docker: { image: IMAGE, network: "off" as const },
  };
  const workspaces = createWorkspaces({ home: join(dir, "home"), settings, environment: env })(kind);
  const opened = await workspaces.open({ runId: kind, project: join(dir, "project"), branch: `feat/${kind}` });
  if (!opened.ok) throw new Error(opened.error.message);
  const service = createServer();
  await new Promise<void>((resolve) => void service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  const [bare, plain, ours, reaching]: [number[], number[], number[], number[]] = [[], [], [], []];
  const same = await plainWords(kind, workspaces, opened.value, env);
  const starts: readonly (readonly [number[], () => void | Promise<void>])[] = [
    [bare, () => ended(spawnSync(program, [...args, ...SHELL], { env }))],
    [plain, () => ended(spawnSync(same.program, same.args, { cwd: opened.value.dir, env }))],
    [ours, () => startIn(workspaces, opened.value, env, [])],
    [reaching, () => startIn(workspaces, opened.value, env, [port])],
  ];
  for (let round = 0; round < ROUNDS + WARM; round += 1) {
    // Forth and back: the kernel still removes the namespaces of one start while the next one makes its own.
    for (const [list, start] of round % 2 === 0 ? starts : starts.toReversed()) {
      const { wallMs } = await sample(start);
      if (round >= WARM) list.push(wallMs);
    }
  }
  service.close();
  await workspaces.close(opened.value, kind);
  const ms = (values: readonly number[]): string => `${Math.round(median(values))} ms`;
  return [
    {
      name: `${kind}: start beside the plain program`,
      value: ratio(ours, plain),
      unit: "x",
      limit: { is: "at most", value: 1.2 },
      note: `${ms(plain)} and ${ms(ours)}`,
    },
    { name: `${kind}: start beside a bare one`, value: ratio(ours, bare), unit: "x", note: ms(bare) },
    { name: `${kind}: start with the way to Passrail`, value: ratio(reaching, plain), unit: "x", note: ms(reaching) },
  ];
}

/** The command line of a start by Passrail without what Passrail puts around it. */
async function plainWords(
  kind: Kind,
  workspaces: Workspaces,
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly program: string; readonly args: readonly string[] }> {
  const { argv } = await confined(workspaces, workspace, env, []);
  if (kind === "podman") {
    const args = argv.slice(argv.indexOf("run")).filter((word) => !/^--(?:name|label)=/u.test(word));
    return { program: "podman", args };
  }
  const [program = "", ...args] = argv.slice(argv.findIndex((word) => word.endsWith("/bwrap")));
  return { program, args: [...args.slice(0, args.indexOf("--") + 1), ...SHELL] };
}

async function startIn(
  workspaces: Workspaces,
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
  ports: readonly number[],
): Promise<void> {
  const put = await confined(workspaces, workspace, env, ports);
  const [program, ...args] = put.argv;
  ended(spawnSync(program, args, { cwd: put.cwd, env: { ...put.env } }));
}

async function confined(
  workspaces: Workspaces,
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
  ports: readonly number[],
): Promise<Launch> {
  const own = { PATH: env["PATH"] ?? "", HOME: env["HOME"] ?? "/" };
  const launch = { argv: SHELL, program: SHELL[0], cwd: workspace.dir, env: own, folders: [], ports };
  const put = await workspaces.confine?.(workspace, launch);
  if (put?.ok !== true) throw new Error(put?.error.message ?? "it confines nothing");
  return put.value;
}

function ended({ status, stderr }: { readonly status: number | null; readonly stderr: Buffer }): void {
  if (status !== 0) throw new Error(`it ended with ${status}: ${String(stderr)}`);
}

const has = (name: string): boolean => spawnSync("which", [name]).status === 0;

function importImage(dir: string, env: NodeJS.ProcessEnv): void {
  const root = join(dir, "root");
  for (const name of ["bin", "etc", "tmp", "proc", "sys", "dev", "home/agent"])
    mkdirSync(join(root, name), { recursive: true });
  const busybox = execFileSync("which", ["busybox"], { encoding: "utf8" }).trim();
  writeFileSync(join(root, "bin/busybox"), readFileSync(busybox), { mode: 0o755 });
  symlinkSync("busybox", join(root, "bin/sh"));
  const input = execFileSync("tar", ["-C", root, "-c", "."], { maxBuffer: 64 * 1024 ** 2 });
  execFileSync("podman", ["import", "--change", 'ENV PATH="/bin"', "-", IMAGE], { input, env, stdio: "pipe" });
}

console.log(JSON.stringify(await inFolder(process.argv[2] ?? "", rowsIn)));
