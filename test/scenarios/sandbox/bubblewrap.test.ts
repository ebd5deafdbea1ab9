// What a hostile agent in a bubblewrap workspace cannot do, tried with the real bubblewrap and programs that try hard.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findMarked } from "../../../src/runner/process/process-table.ts";
import { removeTempDirs, userGit, valueOf, workspacesSuite } from "../../../src/workspace/workspace.testsuite.ts";
import { until } from "../../harness/until.ts";
import { openConfined, SECRET } from "./bench.ts";
import { bubblewrapTests, whyLeftOut } from "./can-confine.ts";

describe.skipIf(bubblewrapTests === "left out")(`bubblewrap${whyLeftOut}`, { timeout: 60_000 }, () => {
  workspacesSuite("bubblewrap", () => openConfined("bubblewrap"));
  afterEach(removeTempDirs);

  test("R-004-67: a program works in the clone, with a home and a /tmp of its own, and leaves its verdict", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const end = await bench.sh(
      workspace,
      `cat; pwd; echo "$HOME"; ls -A "$HOME" /tmp; echo x > "$HOME/mine"; echo y > /tmp/mine; echo z > made.txt
       echo '{"verdict":"pass"}' > "$PASSRAIL_VERDICT_FILE"; git add made.txt; git -c user.name=a -c user.email=a@b commit -qm made`,
      { prompt: "hello\n" },
    );
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, stderrTail: "" });
    expect(end.stdoutTail).toContain(`hello\n${workspace.dir}\n${bench.userHome}\n`);
    expect(readFileSync(join(bench.result, "verdict.json"), "utf8")).toContain("pass");
    expect(readdirSync(bench.userHome)).toEqual([".ssh"]);
    expect(userGit(workspace.dir, "log", "-1", "--format=%s")).toBe("made");
    // Its home is there again for the next program of this workspace, and gone with the workspace.
    expect((await bench.sh(workspace, 'cat "$HOME/mine" /tmp/mine')).stdoutTail).toBe("x\ny\n");
    valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(readdirSync(join(bench.home, "confined"))).toEqual([]);
    expect(userGit(bench.project, "log", "-1", "--format=%s", "feat/r1")).toBe("made");
  });

  test("a limit of the disk counts whatever a program may write, and says what ended it", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const limits = { resources: { diskBytes: 4 * 1024 ** 2 } };
    const fill = (megabytes: number, path: string): string => `head -c ${megabytes}M /dev/zero > ${path}`;
    const fits = await bench.sh(workspace, fill(3, "inside.bin"), { limits });
    expect(fits).toMatchObject({ reason: "exited", exitCode: 0 });
    // What was there before is not counted again.
    const works = await bench.sh(workspace, `${fill(3, "/tmp/a")}; ${fill(3, '"$HOME/b"')}; sleep 60`, { limits });
    expect(works).toMatchObject({
      reason: "disk_limit",
      detail: expect.stringContaining("filled more than 4 MB of the disk (limits.disk)"),
    });
    const ended = await bench.sh(workspace, fill(9, "late.bin"), { limits });
    expect(ended).toMatchObject({ reason: "disk_limit", exitCode: 0 });
  });

  test("S11: it sees neither keys, nor the state folder, nor the project, nor another workspace", async () => {
    const bench = await openConfined("bubblewrap");
    const other = await bench.open("r2");
    writeFileSync(join(other.dir, "secret.txt"), SECRET);
    const workspace = await bench.open();
    const places = [
      join(bench.userHome, ".ssh/id_ed25519"),
      join(bench.home, "token"),
      join(bench.dir, "elsewhere"),
      join(other.dir, "secret.txt"),
      join(bench.project, "a.txt"),
      "/etc/shadow",
      "/etc/ssh/sshd_config",
      "/proc/1/root/etc/shadow",
      `/proc/${process.pid}/environ`,
    ];
    for (const place of places) {
      const end = await bench.sh(workspace, `cat '${place}'`);
      expect({ place, ...end }).toMatchObject({ exitCode: 1, stdoutTail: "" });
    }
    const search = await bench.sh(
      workspace,
      `grep -rs '${SECRET.slice(0, 8)}' ${bench.dir} /root /home /etc /run /var; true`,
    );
    expect(search.stdoutTail).toBe("");
  });

  test("S11: what it writes outside of its folders fails or stays inside", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const config = readFileSync(join(bench.project, ".git/config"), "utf8");
    const line = [
      `echo x > ${bench.project}/a.txt`,
      `echo x >> ${bench.project}/.git/config`,
      `mkdir -p ${bench.project}/.git/hooks; echo x > ${bench.project}/.git/hooks/post-commit`,
      `echo x > ${bench.home}/token`,
      `echo x > ${bench.userHome}/.ssh/authorized_keys`,
      `echo x > /usr/bin/passrail-planted; echo x > /etc/passrail-planted; echo x > /passrail-planted`,
      `echo x > ${bench.home}/clones/planted`,
    ].join("\n");
    await bench.sh(workspace, line);
    expect(readFileSync(join(bench.project, "a.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(bench.project, ".git/config"), "utf8")).toBe(config);
    expect(existsSync(join(bench.project, ".git/hooks/post-commit"))).toBe(false);
    expect(readFileSync(join(bench.home, "token"), "utf8")).toBe(SECRET);
    expect(readdirSync(join(bench.userHome, ".ssh"))).toEqual(["id_ed25519"]);
    for (const path of ["/usr/bin", "/etc", "/"]) expect(existsSync(join(path, "passrail-planted"))).toBe(false);
    expect(readdirSync(join(bench.home, "clones"))).not.toContain("planted");
  });

  test("S13: links that it leaves behind lead nowhere for the next program, and nothing is removed or mounted through them", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    // In its private /tmp lie the places where its clone and its folders are mounted.
    await bench.sh(workspace, `ln -s / "$HOME/all"; ln -s ${bench.dir}/elsewhere leak; ln -s /etc/shadow result-leak`);
    const tmp = join(bench.home, "confined", "r1", "tmp");
    const root = join(tmp, bench.dir.slice("/tmp/".length));
    expect(existsSync(root)).toBe(true);
    // As an agent could do it that finds a way to move its mount points.
    rmSync(join(root, "state"), { recursive: true });
    symlinkSync(join(bench.dir, "user"), join(root, "state"));
    const end = await bench.sh(workspace, 'cat leak result-leak; cat "$HOME/all/etc/shadow"; echo done > still.txt');
    expect(end.stdoutTail).toBe("");
    expect(readFileSync(join(workspace.dir, "still.txt"), "utf8")).toBe("done\n");
    expect(readdirSync(bench.userHome)).toEqual([".ssh"]);
    valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(readFileSync(join(bench.dir, "elsewhere"), "utf8")).toBe(SECRET);
    expect(statSync("/etc/shadow").isFile()).toBe(true);
  });

  test("S11: hooks and filters that it plants in its clone are never run by us", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const canary = join(bench.result, "canary");
    const hooks = ["post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"];
    const plant = hooks.map(
      (name) => `printf '#!/bin/sh\\ntouch ${canary}\\n' > .git/hooks/${name}; chmod 755 .git/hooks/${name}`,
    );
    await bench.sh(
      workspace,
      `mkdir -p .git/hooks\n${plant.join("\n")}\ngit config core.fsmonitor 'touch ${canary}; false'
       git config uploadpack.packObjectsHook 'touch ${canary}; exec git pack-objects'; git config core.sshCommand 'touch ${canary}'
       git config filter.evil.clean 'touch ${canary}; cat'; git config filter.evil.smudge 'touch ${canary}; cat'
       echo '* filter=evil' > .gitattributes; echo changed > a.txt; echo new > new.txt; rm -f ${canary}`,
    );
    const { workspaces } = bench;
    const from = await workspaces.head(workspace);
    expect(await workspaces.diff(workspace, from)).toContain("+changed");
    await bench.open();
    await workspaces.unlock(workspace);
    const closed = valueOf(await workspaces.close(workspace, "r1"));
    expect(userGit(bench.project, "show", `${closed.pinned}:new.txt`)).toBe("new");
    expect(existsSync(canary)).toBe(false);
  });

  test("nobody is root inside, and what is made there is the user's outside", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const end = await bench.sh(
      workspace,
      "id -u; id -un; grep CapBnd /proc/self/status; echo x > made.txt; chown 0:0 made.txt",
    );
    const [uid, name, powers] = end.stdoutTail.split("\n");
    expect(Number(uid)).toBeGreaterThan(0);
    expect(name).toBe("agent");
    expect(powers).toMatch(/\t0+$/u);
    expect(statSync(join(workspace.dir, "made.txt")).uid).toBe(process.getuid?.());
  });

  test("when the way to Passrail is killed, or the attempt canceled, nothing of the sandbox with a network of its own stays", async () => {
    const service = await openService();
    try {
      const bench = await openConfined("bubblewrap", { bubblewrap: { network: "off" } });
      const workspace = await bench.open();
      for (const [how, reason] of [
        ["killed", "signaled"],
        ["canceled", "canceled"],
      ] as const) {
        const marker = `test-way-${process.pid}-${how}`;
        const cancel = new AbortController();
        const file = `up-${how}.txt`;
        const ended = bench.sh(workspace, `touch ${file}; tail -f /dev/null`, {
          ports: [service.address],
          marker,
          hooks: { signal: cancel.signal },
        });
        await until("it works", () => existsSync(join(workspace.dir, file)) || undefined, 20_000);
        const way = findMarked(marker).find(({ pid }) =>
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("attend-apart"),
        );
        expect(way).toBeDefined();
        if (how === "killed") process.kill(way?.pid ?? 0, "SIGKILL");
        else cancel.abort();
        expect((await ended).reason).toBe(reason);
        expect(findMarked(marker)).toEqual([]);
      }
    } finally {
      service.close();
    }
  });

  test("when Passrail itself is killed, the sandbox ends with it, also one with a way to Passrail", async () => {
    const service = await openService();
    try {
      const bench = await openConfined("bubblewrap", { bubblewrap: { network: "off" } });
      const workspace = await bench.open();
      const { confine } = bench.workspaces;
      if (confine === undefined) throw new Error("it confines nothing");
      for (const ports of [[], [service.address]]) {
        const file = `up-${ports.length}.txt`;
        const marker = `test-killed-${process.pid}-${ports.length}`;
        const launch = valueOf(
          await confine(workspace, {
            argv: ["/bin/sh", "-c", `touch ${file}; tail -f /dev/null`],
            program: "/bin/sh",
            cwd: workspace.dir,
            env: { ...bench.environment, PASSRAIL_MARKER: marker },
            folders: [],
            ports,
          }),
        );
        // A shell in the place of Passrail.
        const { cwd, env } = launch;
        const passrail = spawn("/bin/sh", ["-c", '"$@" & wait', "sh", ...launch.argv], { cwd, env, stdio: "ignore" });
        await until("it works", () => existsSync(join(workspace.dir, file)) || undefined, 20_000);
        passrail.kill("SIGKILL");
        await until(`all of it is gone (${ports.length})`, () => findMarked(marker).length === 0 || undefined, 10_000);
      }
    } finally {
      service.close();
    }
  });

  test("a PATH that leads into the workspace starts nothing of it outside", async () => {
    const service = await openService();
    try {
      const bench = await openConfined(
        "bubblewrap",
        { bubblewrap: { network: "off" } },
        { PATH: `bin:${process.env["PATH"]}` },
      );
      const workspace = await bench.open();
      const mark = join(bench.dir, "started-outside");
      mkdirSync(join(workspace.dir, "bin"));
      for (const name of ["bwrap", "env", "mkfifo", "node", "nsenter", "sh"])
        writeFileSync(join(workspace.dir, "bin", name), `#!/bin/sh\necho ${name} >> ${mark}\nexit 1\n`, {
          mode: 0o755,
        });
      const end = await bench.sh(workspace, "echo inside", { ports: [service.address] });
      expect(existsSync(mark) ? readFileSync(mark, "utf8") : "").toBe("");
      expect(end).toMatchObject({ exitCode: 0, stdoutTail: "inside\n" });
    } finally {
      service.close();
    }
  });

  test("the network is the machine's, unless it is switched off; then it reaches what it must reach, and nothing else", async () => {
    const services = await Promise.all([openService(), openService()]);
    const [port = 0, other = 0] = services.map(({ address }) => address);
    const calls = [port, other].map((each) => `fetch("http://127.0.0.1:${each}").then(r => r.text(), () => "refused")`);
    const both = `Promise.all([${calls.join()}]).then((all) => console.log(all.join(" ")))`;
    try {
      for (const [network, ports, answer] of [
        ["on", [], "reached reached\n"],
        ["off", [], "refused refused\n"],
        ["off", [port], "reached refused\n"],
      ] as const) {
        const bench = await openConfined("bubblewrap", { bubblewrap: { network } });
        const end = await bench.run(await bench.open(), [process.execPath, "-e", both], { ports });
        expect({ network, ...end }).toMatchObject({ exitCode: 0, stdoutTail: answer });
      }
    } finally {
      for (const service of services) service.close();
    }
  });

  test("R11: nothing that it starts outlives it, also what left its session and forgot its marker", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const alive = join(bench.result, "alive");
    const stray = `env -i setsid -f sh -c 'while :; do date +%N > ${alive}; sleep 0.05; done' > /dev/null 2>&1 < /dev/null`;
    const end = await bench.sh(workspace, `${stray}; while [ ! -s ${alive} ]; do sleep 0.02; done; echo left`);
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, stdoutTail: "left\n" });
    await until("the stray is gone", () => (isRunning(alive) ? undefined : true), 2_000);
  });

  test("R10: a program that is canceled hears it first and may save what it has; one that does not listen is ended with all its children", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const polite = `trap 'echo saved > saved.txt; exit 0' TERM; echo ready > ready.txt; while :; do sleep 0.05; done`;
    const deaf = `trap '' TERM; (trap '' TERM; env -i setsid sleep 1000) & echo ready > deaf.txt; while :; do sleep 0.05; done`;
    for (const [line, ready] of [
      [polite, "ready.txt"],
      [deaf, "deaf.txt"],
    ] as const) {
      const cancel = new AbortController();
      const marker = `test-${process.pid}-${ready}-${bench.dir.slice(-6)}`;
      const ended = bench.sh(workspace, line, { hooks: { signal: cancel.signal }, limits: { graceMs: 1_000 }, marker });
      await until("the program is ready", () => existsSync(join(workspace.dir, ready)) || undefined);
      expect(findMarked(marker).length).toBeGreaterThan(0);
      cancel.abort();
      expect(await ended).toMatchObject({ reason: "canceled" });
      expect(findMarked(marker)).toEqual([]);
    }
    expect(readFileSync(join(workspace.dir, "saved.txt"), "utf8")).toBe("saved\n");
  });

  test("a limit of time ends the whole sandbox", async () => {
    const bench = await openConfined("bubblewrap");
    const workspace = await bench.open();
    const marker = `test-${process.pid}-late-${bench.dir.slice(-6)}`;
    const end = await bench.sh(workspace, "sleep 1000 & sleep 1000", {
      limits: { totalMs: 700, graceMs: 200 },
      marker,
    });
    expect(end).toMatchObject({ reason: "timeout" });
    expect(findMarked(marker)).toEqual([]);
  });

  test("a known agent finds its login: credentials to renew, settings only to read, nothing of other agents", async () => {
    const bench = await openConfined("bubblewrap");
    const put = (path: string, text: string): void => {
      mkdirSync(join(bench.userHome, path, ".."), { recursive: true });
      writeFileSync(join(bench.userHome, path), text);
    };
    put(".claude/.credentials.json", "old");
    put(".claude/settings.json", "settings");
    put(".claude/projects/other/session.jsonl", SECRET);
    put(".codex/auth.json", SECRET);
    const claude = join(bench.dir, "bin", "claude");
    mkdirSync(join(bench.dir, "bin"));
    const script = `#!/bin/sh
      echo new > ~/.claude/.credentials.json
      cat ~/.claude/settings.json
      echo '{"hooks":{}}' > ~/.claude/settings.json
      echo '{"hooks":{}}' > ~/.claude/settings.local.json
      mkdir -p ~/.claude/projects/mine
      cat ~/.codex/auth.json ~/.claude/projects/other/session.jsonl
      exit 0`;
    writeFileSync(claude, script, { mode: 0o755 });
    const end = await bench.run(await bench.open(), [claude]);
    expect(end).toMatchObject({ exitCode: 0, stdoutTail: "settings" });
    expect(readFileSync(join(bench.userHome, ".claude/.credentials.json"), "utf8")).toBe("new\n");
    expect(readFileSync(join(bench.userHome, ".claude/settings.json"), "utf8")).toBe("settings");
    expect(readdirSync(join(bench.userHome, ".claude"))).toEqual([".credentials.json", "projects", "settings.json"]);
    expect(readdirSync(join(bench.userHome, ".claude/projects"))).toEqual(["other"]);
  });

  test("more folders can be shown by the settings, but never the state folder", async () => {
    const bench = await openConfined("bubblewrap", { bubblewrap: { read: ["~/.ssh"], write: ["/var/tmp"] } });
    const workspace = await bench.open();
    const end = await bench.sh(
      workspace,
      'cat ~/.ssh/id_ed25519; echo x > ~/.ssh/id_ed25519; test -w /var/tmp && echo " writable"',
    );
    expect(end.stdoutTail).toBe(`${SECRET} writable\n`);
    const greedy = await openConfined("bubblewrap", { bubblewrap: { write: ["/tmp"] } });
    const refused = await greedy.sh(await greedy.open(), "true");
    expect(refused).toMatchObject({ reason: "spawn_failed", process: null });
    expect(refused.detail).toContain("state folder");
  });

  test("a program in a folder of the user's is seen with its interpreter, and its neighbours' secrets are not", async () => {
    const bench = await openConfined("bubblewrap");
    const program = join(bench.userHome, "agent.mjs");
    writeFileSync(program, '#!/usr/bin/env node\nconsole.log("played", process.argv[2])\n', { mode: 0o755 });
    const workspace = await bench.open();
    expect(await bench.run(workspace, [program, "it"])).toMatchObject({ exitCode: 0, stdoutTail: "played it\n" });
    // The workspace may name nothing: a link in it to a program outside shows nothing of what lies there.
    symlinkSync(program, join(workspace.dir, "posing"));
    const end = await bench.run(workspace, [join(workspace.dir, "posing")]);
    expect(end.exitCode).not.toBe(0);
    // Nor may words behind the program's own files, such as the name of a session.
    const key = join(bench.userHome, ".ssh/id_ed25519");
    expect(await bench.run(workspace, ["/bin/cat", "--", key])).toMatchObject({ exitCode: 1, stdoutTail: "" });
  });
});

/** Whether a process has this word on its command line; by no mark of ours, because a stray has none. */
function isRunning(word: string): boolean {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
      } catch {
        return false;
      }
    });
}

async function openService(): Promise<{ readonly address: number; close(): void }> {
  const server = createServer((_request, response) => response.end("reached"));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { address: (server.address() as AddressInfo).port, close: () => void server.close() };
}
