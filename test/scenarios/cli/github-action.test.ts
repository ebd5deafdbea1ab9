// The files for GitHub: that they can be read, that what they call exists, and the program of the action against a GitHub of this test, with a
// real repository, a real remote and the real program.

import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { releaseNotes } from "../../../scripts/release-notes.ts";
import { PROGRAM } from "../../harness/program.ts";

vi.setConfig({ testTimeout: 120_000 });

const ROOT = join(import.meta.dirname, "../../..");
type Step = { readonly uses?: string; readonly run?: string; readonly env?: Record<string, string> };
type Workflow = { readonly jobs: Record<string, { readonly permissions?: object; readonly steps: readonly Step[] }> };
const read = (path: string): unknown => parse(readFileSync(join(ROOT, path), "utf8"));

test("workflows call what exists, publish without a token, and put no input of a stranger into a command", () => {
  const [ci, release] = ["ci", "release"].map((name) => read(`.github/workflows/${name}.yml`) as Workflow);
  expect(ci?.jobs["check"]?.steps.map(({ run }) => run)).toContain("bash .ci/run");
  expect(release?.jobs["publish"]?.permissions).toEqual({ contents: "write", "id-token": "write" });
  const action = read("action.yml") as { inputs: object; runs: { using: string; steps: readonly Step[] } };
  expect(action.runs.using).toBe("composite");
  const jobs = [ci, release].flatMap((each) => Object.values(each?.jobs ?? {}));
  const steps = [...jobs.flatMap((job) => job.steps), ...action.runs.steps];
  const commands = steps.flatMap(({ run }) => run ?? []).join("\n");
  expect(commands).toContain("npm publish");
  expect(commands).not.toMatch(/\$\{\{|NPM_TOKEN/u);
  for (const [, script = ""] of commands.matchAll(/(?:node|bash) "?(?:\$GITHUB_ACTION_PATH\/)?([\w./-]+)/gu))
    expect([script, existsSync(join(ROOT, script))]).toEqual([script, true]);
  const inputs = steps.flatMap(({ env = {} }) => Object.values(env)).join(" ");
  for (const name of Object.keys(action.inputs)) expect(inputs).toContain(`inputs.${name} `);
});

test("a release has the changelog's words of exactly its version", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.2.0 (2026-03-01)\n\n- two\n\n## 0.1.0\n\n- one\n";
  expect(releaseNotes("v0.2.0", "0.2.0", changelog)).toBe("- two\n");
  expect(() => releaseNotes("v0.3.0", "0.2.0", changelog)).toThrow("package.json has 0.2.0");
  expect(() => releaseNotes("v0.3.0", "0.3.0", changelog)).toThrow('no section "## 0.3.0"');
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(releaseNotes(`v${version}`, version, readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")).length).toBeGreaterThan(
    9,
  );
});

const AGENT = `#!/bin/sh
nonce=$(sed -n 's/.*"nonce": "\\([0-9a-f]*\\)".*/\\1/p' | tail -1)
env | grep -c SECRET-OF-GITHUB >> "$(dirname "$0")/../seen"
[ "$PASSRAIL_STAGE" = build ] && echo work >> work.txt && verdict=DONE || verdict=APPROVED
echo "{\\"verdict\\": \\"$verdict\\", \\"nonce\\": \\"$nonce\\"}"
`;

let dir: string;
let server: Server;
const got: { readonly path: string; readonly body: Record<string, never> }[] = [];
const git = (...args: readonly string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-action-")));
  for (const name of ["bin", "project"]) mkdirSync(join(dir, name));
  const project = join(dir, "project");
  git("init", "-q", "--bare", join(dir, "remote.git"));
  git("-C", project, "init", "-q", "-b", "main");
  writeFileSync(
    join(project, "passrail.yaml"),
    `agents: { "*": { command: [${join(dir, "bin/agent")}] } }\nchecks: { test: ["true"] }\n`,
  );
  git("-C", project, "add", "-A");
  git("-C", project, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "-m", "first");
  git("-C", project, "remote", "add", "origin", join(dir, "remote.git"));
  for (const [name, text] of [
    ["agent", AGENT],
    ["passrail", `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`],
  ] as const) {
    writeFileSync(join(dir, "bin", name), text);
    chmodSync(join(dir, "bin", name), 0o755);
  }
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      got.push({ path: request.url ?? "", body: JSON.parse(text) as Record<string, never> });
      response.writeHead(request.headers.authorization === "Bearer SECRET-OF-GITHUB" ? 201 : 401).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

async function act(
  event: object,
): Promise<{ readonly code: number | null; readonly out: string; readonly outputs: string }> {
  const files = { event: join(dir, "event.json"), output: join(dir, "output") };
  writeFileSync(files.event, JSON.stringify(event));
  writeFileSync(files.output, "");
  const child = spawn(process.execPath, [join(ROOT, "deploy/github/run-on-issue.mjs")], {
    cwd: join(dir, "project"),
    env: {
      PATH: [join(dir, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      HOME: dir,
      RUNNER_TEMP: dir,
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@localhost",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@localhost",
      GITHUB_EVENT_PATH: files.event,
      GITHUB_OUTPUT: files.output,
      GITHUB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_SHA: git("-C", join(dir, "project"), "rev-parse", "HEAD"),
      INPUT_FLOW: "quick",
      INPUT_AGENT: "",
      INPUT_LABEL: "passrail",
      INPUT_COMMAND: "/passrail",
      INPUT_USD: "",
      INPUT_TOKEN: "SECRET-OF-GITHUB",
    },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out, outputs: readFileSync(files.output, "utf8") };
}

const ISSUE = { number: 7, title: "Greet $(touch pwned) `people`", body: "Please.\n@everyone" };

test("a comment of a stranger starts nothing; one of a collaborator runs the flow, pushes, and reports a check", async () => {
  const said = { body: "/passrail with care", user: { login: "eve" }, author_association: "NONE" };
  const refused = await act({ action: "created", issue: ISSUE, comment: said });
  expect(refused).toMatchObject({ code: 0, outputs: "run=\nconclusion=skipped\n" });
  expect(refused.out).toContain("eve may not start runs here");
  expect(got).toEqual([]);

  const done = await act({ action: "created", issue: ISSUE, comment: { ...said, author_association: "COLLABORATOR" } });
  expect(done.outputs).toMatch(/^run=r[0-9a-f]{10}\nconclusion=action_required\n$/u);
  expect(done.code).toBe(0);
  const [, id = ""] = /^run=(\S+)/u.exec(done.outputs) ?? [];
  const tip = git("-C", join(dir, "remote.git"), "rev-parse", `refs/heads/passrail/${id}`);
  const [check, comment] = got;
  expect(check).toMatchObject({
    path: "/repos/acme/shop/check-runs",
    body: {
      head_sha: tip,
      conclusion: "action_required",
      external_id: id,
      output: { title: expect.stringContaining("gate ship") },
    },
  });
  expect(check?.body["output"]?.["summary"]).toContain("| build#1 | test | run by Passrail | ✓ |");
  expect(comment).toMatchObject({ path: "/repos/acme/shop/issues/7/comments" });
  expect(comment?.body["body"]).toContain(`compare/passrail/${id}`);
  expect(existsSync(join(dir, "project/pwned"))).toBe(false);
  // The agent's environment never held the token.
  expect(new Set(readFileSync(join(dir, "seen"), "utf8").trim().split("\n"))).toEqual(new Set(["0"]));
});
