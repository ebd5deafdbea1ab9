// The real podman, as root with the runtime of Debian's package, and an image made of programs of this machine: nothing is fetched.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { removeTempDirs, userGit, valueOf } from "../../../src/workspace/workspace.testsuite.ts";
import { findOnPath } from "../../../src/workspace/sandbox/shared/find-on-path.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { openBench } from "../cli/bench.ts";
import { until } from "../../harness/until.ts";
import { openConfined } from "./bench.ts";

const IMAGE = "localhost/passrail-test-agents:1";
const PATH = process.env["PATH"] ?? "";
const dir = mkdtempSync(join(tmpdir(), "passrail-podman-"));
const conf = join(dir, "containers.conf");
const podman = (...args: readonly string[]): string =>
  execFileSync("podman", args, { encoding: "utf8", env: { PATH, HOME: dir, CONTAINERS_CONF: conf }, stdio: "pipe" });

/** Where it is missing, by hand, these tests are left out; the gate installs it. */
const canRun = process.getuid?.() === 0 && ["podman", "runc", "busybox"].every((name) => findOnPath(PATH, name));

/** Programs that want more than they may have. */
const HUNGRY = {
  greedy: `exec awk 'BEGIN { s = "aaaaaaaaaaaaaaaa"; while (1) s = s s }'`,
  // A shell that cannot fork ends; this one forks no more.
  forks: `(i=0; while [ $i -lt 60 ]; do sleep 2 & i=$((i + 1)); echo $i > forked.txt; done) 2> /dev/null
read started < forked.txt
for file in /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max; do [ -e $file ] && read quota rest < $file; done
echo "$started of 60, quota $quota" > forked.txt`,
};

describe.skipIf(!canRun)("podman", { timeout: 120_000 }, () => {
  const environment = { CONTAINERS_CONF: conf };
  const settings = { docker: { image: IMAGE, network: "off" as const } };

  beforeAll(() => {
    // No more than this process may have itself: a machine in a machine cannot raise its limits.
    writeFileSync(
      conf,
      [
        "[containers]",
        'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
        "[engine]",
        'runtime = "runc"',
        'cgroup_manager = "cgroupfs"',
        'events_logger = "none"',
      ].join("\n"),
    );
    importImage();
  });
  afterAll(() => {
    podman("image", "rm", "--force", IMAGE);
    rmSync(dir, { recursive: true, force: true });
  });
  afterEach(removeTempDirs);

  test("R-004-67: a program of root's Passrail is no root inside, sees the clone and nothing else, and its work belongs to the user", async () => {
    const bench = await openConfined("podman", settings, environment);
    const workspace = await bench.open();
    const line = [
      "id -u",
      `cat ${join(bench.home, "token")} ${join(bench.userHome, ".ssh/id_ed25519")} ${join(bench.dir, "elsewhere")} 2>&1 | grep -c "No such file"`,
      "ls /sys/class/net",
      "grep CapEff /proc/self/status",
      `echo '{}' > "$PASSRAIL_VERDICT_FILE"; echo new > new.txt`,
      "touch /etc/passwd 2>/dev/null || echo sealed",
    ].join("; ");
    const end = await bench.sh(workspace, line);
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, stderrTail: "" });
    const said = end.stdoutTail.trim().split("\n");
    expect(said).toEqual(["1000", "3", "lo", expect.stringMatching(/^CapEff:\s+0+$/u), "sealed"]);
    expect(existsSync(join(bench.result, "verdict.json"))).toBe(true);
    const closed = valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(userGit(bench.project, "show", `${closed.pinned}:new.txt`)).toBe("new");
    expect(leftContainers()).toEqual([]);
  });

  test("R12: a container ends with its attempt; one that a kill left is removed before the next", async () => {
    const bench = await openConfined("podman", settings, environment);
    const workspace = await bench.open();
    const cancel = new AbortController();
    const ended = bench.sh(workspace, "trap '' TERM; echo > ready; while :; do sleep 0.1; done", {
      hooks: { signal: cancel.signal },
      limits: { graceMs: 60_000 },
    });
    await until("the program is ready", () => existsSync(join(workspace.dir, "ready")) || undefined);
    cancel.abort();
    expect(await ended).toMatchObject({ reason: "canceled" });
    expect(leftContainers()).toEqual([]);

    const again = new AbortController();
    const killed = bench.sh(workspace, "trap '' TERM; echo > again; while :; do sleep 0.1; done", {
      hooks: { signal: again.signal },
      limits: { graceMs: 0 },
    });
    await until("the program is ready", () => existsSync(join(workspace.dir, "again")) || undefined);
    again.abort();
    await killed;
    expect(await bench.sh(workspace, "exit 0")).toMatchObject({ exitCode: 0 });
    expect(leftContainers()).toEqual([]);
  });

  test("`sandbox list` and `test` say what works, `sandbox: auto` takes it, and a whole run works in it", async () => {
    const bench = openBench();
    try {
      const env = { CONTAINERS_CONF: conf, PATH };
      const written = { workspaces: { sandbox: "auto", docker: { image: IMAGE, network: "off" } } };
      writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(written));
      approveFiles(bench.home, bench.project);
      const listed = JSON.parse((await bench.passrail(["sandbox", "list", "--json"], { env })).out);
      const found = listed.sandboxes.find(({ kind }: { kind: string }) => kind === "podman");
      expect(found).toEqual({ kind: "podman", problem: null, isChosen: false, isStrongest: true });
      const tried = JSON.parse((await bench.passrail(["sandbox", "test", "podman", "--json"], { env })).out);
      expect(tried.sandboxes).toMatchObject([
        { ok: true, kind: "podman", user: 1000, agents: ["claude"], keepsWork: true },
      ]);
      const input = ["--input", "ticket.workflow=oneshot"];
      const run = await bench.passrail(["run", "ticket", "Make it", ...input, "--agent", "*=/bin/made"], { env });
      expect(run.err).toContain("the strongest sandbox here: podman");
      const shown = JSON.parse((await bench.passrail(["runs", "show", "1", "--json"], { env })).out);
      const [attempt] = shown.stages.find(({ id }: { id: string }) => id === "oneshot").attempts;
      expect(attempt.containment).toMatchObject({ mode: "podman", isConfined: true });
      expect(userGit(bench.project, "show", `${attempt.branch}:made.txt`)).toBe("inside as 1000");
      expect(leftContainers()).toEqual([]);
      const built = await bench.passrail(
        [
          "sandbox",
          "build",
          "--engine",
          "podman",
          "--file",
          containerfile(),
          "--tag",
          "localhost/passrail-test:2",
          "-q",
        ],
        { env },
      );
      expect([built.code, built.out.trim()]).toEqual([0, "localhost/passrail-test:2"]);
      podman("image", "rm", "localhost/passrail-test:2");
    } finally {
      bench.remove();
    }
  });

  test("a stage's memory, processes and cpus hold in a container, and the run says what ended it; without one nothing starts", async () => {
    const bench = openBench();
    try {
      const env = { CONTAINERS_CONF: conf, PATH };
      const written = { workspaces: { docker: { image: IMAGE, network: "off" } } };
      writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(written));
      const shipped = readFileSync(join(import.meta.dirname, "../../../flows/ticket.yaml"), "utf8");
      mkdirSync(join(bench.project, ".passrail/flows"), { recursive: true });
      const tight = "defaults:\n  limits: { memory: 48mb, processes: 40, cpus: 0.5 }\n";
      writeFileSync(join(bench.project, ".passrail/flows/ticket.yaml"), shipped.replace("defaults:\n", tight));
      approveFiles(bench.home, bench.project);
      const attemptIn = async (run: string, ...where: readonly string[]) => {
        const what = ["run", "ticket", "Make it", "--input", "ticket.workflow=oneshot", ...where];
        await bench.passrail(what, { env });
        const shown = JSON.parse((await bench.passrail(["runs", "show", run, "--json"], { env })).out);
        return shown.stages.find(({ id }: { id: string }) => id === "oneshot").attempts[0];
      };
      const greedy = await attemptIn("1", "--workspace", "podman", "--agent", "*=/bin/greedy");
      expect(greedy.cause).toMatch(/greedy was killed in a container with 48 MB of memory \(limits.memory\)/u);
      const forks = await attemptIn("2", "--workspace", "podman", "--agent", "*=/bin/forks");
      expect(forks).toMatchObject({ health: "complete", commits: expect.anything() });
      expect(userGit(bench.project, "show", `${forks.branch}:forked.txt`)).toMatch(/^(2\d|3\d) of 60, quota 50000$/u);
      const outside = await attemptIn("3", "--workspace", "worktree", "--agent", "*=/bin/true");
      expect(outside.cause).toContain("only a container can hold such a limit");
      expect(leftContainers()).toEqual([]);
    } finally {
      bench.remove();
    }
  });

  function leftContainers(): readonly string[] {
    return podman("ps", "--all", "--quiet", "--filter=label=passrail.store").split("\n").filter(Boolean);
  }

  function containerfile(): string {
    const file = join(dir, "Containerfile");
    writeFileSync(file, `FROM ${IMAGE}\nLABEL of=tests\n`);
    return file;
  }

  /** A shell with its tools, and a program with the name of an agent. */
  function importImage(): void {
    const root = join(dir, "root");
    for (const folder of ["bin", "etc", "tmp", "proc", "sys", "dev", "home/agent"])
      mkdirSync(join(root, folder), { recursive: true });
    const busybox = realpathSync(findOnPath(PATH, "busybox") ?? "");
    writeFileSync(join(root, "bin/busybox"), readFileSync(busybox), { mode: 0o755 });
    execFileSync("sh", [
      "-c",
      'for name in $(busybox --list); do [ "$name" = busybox ] || ln -sf busybox "$1/$name"; done',
      "sh",
      join(root, "bin"),
    ]);
    writeFileSync(join(root, "bin/claude"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    writeFileSync(join(root, "bin/made"), '#!/bin/sh\ncat > /dev/null\necho "inside as $(id -u)" > made.txt\n', {
      mode: 0o755,
    });
    for (const [name, text] of Object.entries(HUNGRY))
      writeFileSync(join(root, "bin", name), `#!/bin/sh\ncat > /dev/null\n${text}\n`, { mode: 0o755 });
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/:/bin/sh\n");
    const tar = execFileSync("tar", ["-C", root, "-c", "."], { maxBuffer: 64 * 1024 ** 2 });
    execFileSync("podman", ["import", "--change", 'ENV PATH="/bin"', "-", IMAGE], {
      input: tar,
      env: { PATH, HOME: dir, CONTAINERS_CONF: conf },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
});
