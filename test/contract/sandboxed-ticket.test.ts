// A ticket from the backlog to Done in each sandbox, with the real Claude Code and then the real Codex, through the gateway: what they find inside,
// and what they reach. Only the models are scripted. Podman's image has nothing of its own: the machine's programs are mounted.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { findOnPath } from "../../src/workspace/sandbox/shared/find-on-path.ts";
import { type FakeDaytona, KEY, startFakeDaytona } from "../fixtures/daytona/server.ts";
import type { Rule } from "../fixtures/models/scenario.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { type Bench, openBench } from "../scenarios/cli/bench.ts";
import { bubblewrapTests } from "../scenarios/sandbox/can-confine.ts";
import { CONTRACT_FOLDER, contractTests } from "./installed.ts";
import { API_KEY, claude, codex, programOf } from "./vendors.ts";

const PATH = process.env["PATH"] ?? "";
const IMAGE = "localhost/passrail-test-machine:1";
const isRoot = process.getuid?.() === 0;
const canRun = {
  podman: isRoot && ["podman", "runc"].every((name) => findOnPath(PATH, name)),
  bubblewrap: bubblewrapTests === "run",
};

/** What a program inside can find of the key, and whom it reaches. The pattern finds the key, and not itself. */
const PATTERN = `${API_KEY.slice(0, 20)}[${API_KEY.charAt(20)}]`;
const LOOK = [
  `environment $(env | grep -c '${PATTERN}')`,
  `processes $(cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '${PATTERN}')`,
  `files $(grep -rsl '${PATTERN}' "$HOME" /tmp /run /etc . 2>/dev/null | wc -l)`,
  "tokens $(env | grep -cE '^(PASSRAIL_GATEWAY_TOKEN|ANTHROPIC_[A-Z_]*)=pr_gw_')",
  "networks $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ' ')",
  "asked $(curl -sS -m 10 http://other.example/x)",
  "around $(curl -sS -m 10 --noproxy '*' http://192.0.2.1/ 2>&1 | head -c 40)",
]
  .map((line) => `echo "${line}"`)
  .join("; ");

/** Each stage runs the line of a shell with its own output. */
const rules = (line: string): readonly Rule[] =>
  ["implement", "validate"].map((stage) => ({
    id: stage,
    match: { prompt: `Stage: ${stage}` },
    turns: [{ do: [{ bash: `{ ${line}; } > ${stage}.txt 2>&1` }] }, { text: `${stage} is done.` }],
  }));

const TICKET = `---
id: AGI-1
title: "Greet people"
description: "A program that greets."
repo: "."
status: Backlog
dependsOn: []
---

The body stays.
`;

const KEYS = ["ANTHROPIC_API_KEY", "SCRIPTED_API_KEY"];
const keys = Object.fromEntries(KEYS.map((name) => [name, API_KEY]));

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

describe.skipIf(contractTests() === "left out")(
  "a ticket in a sandbox, through the gateway",
  { timeout: 240_000 },
  () => {
    const shared = mkdtempSync(join(tmpdir(), "passrail-machine-"));
    const conf = join(shared, "containers.conf");
    const podman = (args: readonly string[], input?: Buffer): void =>
      void execFileSync("podman", args, { input, env: { PATH, HOME: shared, CONTAINERS_CONF: conf }, stdio: "pipe" });
    let models: FakeModels;
    let daytona: FakeDaytona;
    let bench: Bench;

    beforeEach(async () => {
      models = await startFakeModels({ scenario: { rules: [] } });
      daytona = await startFakeDaytona();
      bench = openBench();
    });
    afterEach(async () => {
      bench.remove();
      await models.close();
      await daytona.close();
    });
    afterAll(() => {
      if (existsSync(conf)) podman(["image", "rm", "--force", IMAGE]);
      rmSync(shared, { recursive: true, force: true });
    });

    test.skipIf(!canRun.bubblewrap)("R-004-65, R-004-67: bubblewrap", async () => {
      await expectDone({ sandbox: "bubblewrap", bubblewrap: { network: "off" } });
    });

    test.skipIf(!canRun.podman)("R-004-65, R-004-67: podman", async () => {
      importMachine();
      const options = ["/usr", "/etc/ssl", "/etc/alternatives", join(CONTRACT_FOLDER, "node_modules")].map(
        (path) => `--volume=${path}:${path}:ro`,
      );
      await expectDone({ sandbox: "podman", docker: { image: IMAGE, network: "off", options } });
    });

    // Its machine has processes, a network and a /tmp of its own.
    test.skipIf(!isRoot || !canRun.bubblewrap)("R-004-65, R-004-67: Daytona", async () => {
      await daytona.close();
      daytona = await startFakeDaytona({ machines: [CONTRACT_FOLDER, dirname(process.execPath)] });
      await expectDone({ sandbox: "daytona", daytona: { url: daytona.url, network: "off", reach_passrail: "on" } });
      expect(daytona.sandboxes()).toEqual([]);
    });

    test("R-004-65: where Daytona may not reach Passrail, nothing starts with a gateway that is required; otherwise the run says that it was bypassed", async () => {
      models.play({ rules: rules("echo worked") });
      setUp({ sandbox: "daytona", daytona: { url: daytona.url } }, "required");
      const refused = await bench.passrail(["work", "--once"], { env: { ...keys, DAYTONA_API_KEY: KEY } });
      expect(refused.err).toContain(
        "does not go through the gateway, which the settings require: its sandbox is on another machine",
      );
      expect(daytona.sandboxes()).toEqual([]);
      expect(models.requests).toEqual([]);
      bench.remove();
      bench = openBench();
      // One stage is enough for that.
      setUp({ sandbox: "daytona", daytona: { url: daytona.url } }, "on", TICKET.replace("Backlog", "Needs Validate"));
      const worked = await bench.passrail(["work", "--once"], { env: { ...keys, DAYTONA_API_KEY: KEY } });
      expect(worked.err).toContain("AGI-1: Validate In Progress → Done");
      expect(worked.err).toContain("AGI-1: gateway_bypassed: codex does not go through the gateway");
      // Nor does its prompt name a tool that cannot be reached from there.
      expect(JSON.stringify(models.requests.map(({ conversation }) => conversation.entries))).not.toContain(
        "submit_verdict",
      );
      expect(daytona.sandboxes()).toEqual([]);
    });

    async function expectDone(workspaces: object): Promise<void> {
      models.play({ rules: rules(LOOK) });
      setUp(workspaces, "required");
      const worked = await bench.passrail(["work", "--once"], {
        env: { ...keys, CONTAINERS_CONF: conf, DAYTONA_API_KEY: KEY },
      });
      expect(worked.err).toContain("AGI-1: Validate In Progress → Done");
      const asked = models.requests.map(({ rule, headers }) => ({
        rule,
        hasKey: JSON.stringify(headers).includes(API_KEY),
      }));
      for (const stage of ["implement", "validate"]) {
        expect(asked).toContainEqual({ rule: stage, hasKey: true });
        git(bench.project, "fetch", "-q", "origin");
        expect(git(bench.project, "show", `origin/main:${stage}.txt`).split("\n")).toEqual([
          "environment 0",
          "processes 0",
          "files 0",
          "tokens 1",
          "networks lo ",
          expect.stringContaining("Passrail's gateway refuses other.example"),
          expect.stringMatching(/^around curl: \(7\)/u),
        ]);
      }
      expect(worked.err).toContain("AGI-1: gateway_refused: other.example");
      expect(readdirSync(join(bench.home, "clones"))).toEqual([]);
    }

    /** One ticket, which Claude Code builds and Codex validates. */
    function setUp(workspaces: object, mode: "on" | "required", ticket = TICKET): void {
      const { project, dir } = bench;
      const programs = [claude, codex].map((vendor) => {
        const { command, env } = programOf(vendor, dir, models.url);
        // The keys are in the user's environment: a project's file is in each clone.
        const others = Object.entries(env).filter(([, value]) => value !== API_KEY);
        // Its home is not known over there.
        const isKnown = mode === "required" || !("daytona" in workspaces);
        const codexHome = isKnown ? {} : { CODEX_HOME: join(dir, "home-of-codex/.codex") };
        return [
          vendor.cli,
          { command, env: { ...Object.fromEntries(others), ...codexHome }, pass: KEYS.filter((name) => name in env) },
        ];
      });
      const settings = {
        workspaces,
        gateway: { mode, egress: [] },
        runners: Object.fromEntries(programs),
        agents: {
          worker: { runner: "claude", model: claude.model, permission: "full" },
          "test-writer": { runner: "codex", model: codex.model, permission: "full" },
        },
        merge: { mode: "merge", target: "main" },
      };
      const shipped = readFileSync(join(import.meta.dirname, "../../flows/ticket.yaml"), "utf8");
      const short = shipped
        .replace("- { stage: research }", "- { stage: implement }")
        .replace("id: validate\n    agent: worker", "id: validate\n    agent: test-writer");
      for (const [path, text] of [
        ["passrail.yaml", JSON.stringify(settings)],
        [".passrail/flows/ticket.yaml", short],
        ["feature_requests/FR-1/AGI-1.md", ticket],
      ] as const) {
        mkdirSync(dirname(join(project, path)), { recursive: true });
        writeFileSync(join(project, path), text);
      }
      const remote = join(dir, "remote.git");
      git(dir, "init", "-q", "--bare", "-b", "main", remote);
      git(project, "branch", "-M", "main");
      git(project, "add", "-A");
      git(project, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit", "-q", "-m", "One ticket");
      git(project, "remote", "add", "origin", remote);
      git(project, "push", "-q", "-u", "origin", "main");
    }

    /** An image of nothing but links to where the machine's programs will be. */
    function importMachine(): void {
      const engine = ['runtime = "runc"', 'cgroup_manager = "cgroupfs"', 'events_logger = "none"'];
      // No more than this process may have itself: a machine in a machine cannot raise its limits.
      const limits = 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]';
      writeFileSync(conf, ["[containers]", limits, "[engine]", ...engine].join("\n"));
      const root = join(shared, "root");
      for (const name of ["etc", "tmp", "proc", "sys", "dev", "usr", "run", "home/agent"])
        mkdirSync(join(root, name), { recursive: true });
      chmodSync(join(root, "tmp"), 0o1777);
      for (const name of ["bin", "sbin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(root, name));
      writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n");
      const tar = execFileSync("tar", ["-C", root, "-c", "."]);
      podman(["import", "--change", `ENV PATH="${dirname(process.execPath)}:/usr/bin:/bin"`, "-", IMAGE], tar);
    }
  },
);
