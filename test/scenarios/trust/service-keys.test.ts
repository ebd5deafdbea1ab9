// The keys of services: from the environment or the project's `.env`, asked for only by the part that uses them, told in one line before work
// begins, and found in nothing that is kept.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { execFileSync } from "node:child_process";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { OK, openProject, type Project } from "../ticket-pick/project.ts";

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
let server: Server | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
  project.remove();
});

const KEYS = {
  DAYTONA_API_KEY: "dtn_0123456789abcdefghij0123456789",
  ANTHROPIC_API_KEY: "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ",
  GITHUB_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345",
};
const NONE = Object.fromEntries([...Object.keys(KEYS), "GH_TOKEN", "ANTHROPIC_AUTH_TOKEN"].map((name) => [name, ""]));

function work(more: Record<string, string> = {}) {
  const env = { ...NONE, PATH: `${join(project.dir, "bin")}:${join(process.execPath, "..")}:/usr/bin:/bin`, ...more };
  return project.passrail(["work", "--once"], { env: { ...env, HOME: project.dir } });
}

const keyFile = (): void =>
  writeFileSync(
    join(project.project, ".env"),
    Object.entries(KEYS)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
const linesWith = (text: string, part: string): readonly string[] =>
  text.split("\n").filter((line) => line.includes(part));

/** Of everything that Passrail keeps, and of the ticket; the file itself is where the keys are. */
function keptKeys(...outputs: readonly string[]): readonly string[] {
  const files = readdirSync(project.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  const all = [...files, ...outputs, project.read(1)];
  expect(files.length).toBeGreaterThan(3);
  return Object.values(KEYS).filter((key) => all.some((text) => text.includes(key)));
}

test("R-004-62: a sandbox at Daytona asks for its key before the ticket starts; the one of .env will do", async () => {
  project = openProject();
  const presented = new Set<string | undefined>();
  server = createServer(({ headers }, response) => {
    presented.add(headers.authorization);
    response.writeHead(401).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const daytona = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api` };
  project.settings({ "*": [OK] }, { workspaces: { sandbox: "daytona", daytona } });
  project.ticket(1, { status: "Needs Research" });
  const refused = await work();
  expect(linesWith(refused.err, "AGI-1 cannot start")[0]).toContain("DAYTONA_API_KEY is not set");
  expect(project.status(1)).toBe("Needs Research");

  keyFile();
  const begun = await work();
  // Nobody is let in there: the sandbox cannot be made, but the key was found.
  expect([...presented]).toEqual([`Bearer ${KEYS.DAYTONA_API_KEY}`]);
  expect(begun.err + begun.out).not.toContain("DAYTONA_API_KEY is not set");
  expect(project.status(1)).not.toBe("Needs Research");
  expect(keptKeys(refused.err, begun.out, begun.err)).toEqual([]);
});

/** Says that nobody is logged in, and prints its environment when it works. */
const CLAUDE = `#!${process.execPath}
import { readFileSync } from "node:fs";
if (process.argv[2] === "auth") process.exit(1);
readFileSync(0);
const print = (line) => console.log(JSON.stringify({ session_id: "s-1", ...line }));
print({ type: "system", subtype: "init", model: "m", claude_code_version: "0.0.0", tools: [], mcp_servers: [] });
const text = "My key is " + (process.env.ANTHROPIC_API_KEY ?? "missing");
print({ type: "result", subtype: "success", is_error: false, result: text, num_turns: 1, total_cost_usd: 0 });
`;

/** One stage is enough to start a program, and nothing lands. */
const ONE_STAGE = `flow: one
version: 1
title: One stage
subject: ticket
enter: { Backlog: plan }
words:
  verdict: {}
  unknown_verdict: pass
  health: { "0": complete }
  unknown_health: failed
  status: { queued: Backlog, completed: Done, stopped: Blocked, canceled: Canceled, question: Needs Human Decision, escalated: Needs Human Review }
workspace: { mode: worktree, branch: "feat/{ticket.id}" }
allow_ungated: true
defaults: { result: { from: exit-code } }
stages:
  - { id: plan, agent: worker, prompt_file: agent2-worker-plan, status: { ready: Needs Plan, running: Plan In Progress } }
`;

test("R-004-62: without a login of the agent's program its tickets do not start, and a line says what to do; the key of .env reaches the agent and nothing that is kept", async () => {
  project = openProject();
  mkdirSync(join(project.dir, "bin"));
  writeFileSync(join(project.dir, "bin", "claude"), CLAUDE);
  chmodSync(join(project.dir, "bin", "claude"), 0o755);
  writeFileSync(join(project.dir, "bin", "package.json"), '{"type":"module"}');
  const settings = { runner: "claude", tickets: { flow: "one" } };
  writeFileSync(join(project.project, "passrail.yaml"), JSON.stringify(settings));
  mkdirSync(join(project.project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(project.project, ".passrail", "flows", "one.yaml"), ONE_STAGE);
  project.ticket(1);
  project.ticket(2);
  const refused = await work();
  const told = linesWith(refused.err + refused.out, "claude is not logged in");
  expect(told).not.toEqual([]);
  for (const line of told)
    expect(line).toContain("claude is not logged in: run claude once and log in, or set ANTHROPIC_API_KEY");
  // Nothing has started.
  expect(existsSync(join(project.home, "logs", "AGI-1"))).toBe(false);

  keyFile();
  project.ticket(1, { status: "Backlog" });
  const begun = await work();
  expect(begun.err + begun.out).not.toContain("not logged in");
  expect(readFileSync(join(project.home, "logs", "AGI-1", "plan.log"), "utf8")).toContain("My key is [REDACTED:");
  expect(keptKeys(refused.err, begun.out, begun.err)).toEqual([]);
});

test("R-004-62: the token of .env is the one that GitHub is asked with, and no key is asked for that nothing uses", async () => {
  const seen: string[] = [];
  server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? "");
    response.writeHead(401).end("{}");
  });
  await new Promise<void>((listening) => server?.listen(0, "127.0.0.1", listening));
  project = openProject();
  project.settings({ "*": [OK] });
  project.ticket(1, { status: "Needs Validate" });
  execFileSync("git", ["-C", project.project, "remote", "add", "origin", "https://github.com/org/app.git"]);
  keyFile();
  const { port } = server.address() as AddressInfo;
  const refused = await work({ GITHUB_API_URL: `http://127.0.0.1:${port}` });
  expect(seen.some((header) => header.endsWith(KEYS.GITHUB_TOKEN))).toBe(true);
  expect(linesWith(refused.err, "AGI-1 cannot start")[0]).toContain("GitHub refused the login");
  // Neither Daytona nor Claude Code has a part in this project.
  expect(refused.err + refused.out).not.toMatch(/DAYTONA|ANTHROPIC|logged in:/u);
  expect(keptKeys(refused.err, refused.out)).toEqual([]);
});
