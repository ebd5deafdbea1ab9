// What a newcomer types in the first hour, and what goes wrong: each input with what is printed and the exit code. A refused input stores
// nothing and changes nothing in the project.

import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "./bench.ts";
import { type Newcomer, openNewcomer } from "./first-hour.ts";

vi.setConfig({ testTimeout: 120_000 });

let own: Newcomer;
const folder = (name: string): string => join(own.dir, name);
beforeAll(() => {
  own = openNewcomer();
  for (const name of ["plain", "empty", "nothing", "broken", "tight"]) mkdirSync(folder(name));
  own.git("init", "-q", folder("empty"));
  for (const name of ["dirty", "others", "detached", "noted", "foreign", "wrong"])
    own.git("clone", "-q", own.project, folder(name));
  own.git("clone", "-q", "--bare", own.project, folder("bare"));
  own.git("-C", folder("detached"), "checkout", "-q", "--detach");
  writeFileSync(join(folder("dirty"), "README.md"), "# Changed\n");
  writeFileSync(join(folder("noted"), "passrail.yaml"), "# nothing yet\n");
  writeFileSync(join(folder("foreign"), "passrail.yaml"), "checks: { test: [./evil.sh] }\n");
  writeFileSync(join(folder("wrong"), "passrail.yaml"), "slots: [\n");
  writeFileSync(folder("file"), "");
});
afterAll(() => own.remove());

const TASK = "fix the typo in the README";
const PLAYED = ["--agent", "*=true"];
const at = (name: string): readonly string[] => ["--cwd", `../${name}`];

type Input = {
  readonly name: string;
  readonly words: readonly string[];
  readonly code: number;
  /** On standard error, or on standard output where the input is understood. */
  readonly says: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Data that comes before the refusal. */
  readonly prints?: string;
};

const WORDS: readonly Input[] = [
  { name: "a mistyped command", words: ["inbx"], code: 2, says: ["unknown_command", 'did you mean "inbox"?'] },
  {
    name: "words without quotes",
    words: ["fix", "the", "typo"],
    code: 2,
    says: ['There is no command "fix".\n  A task is one text: passrail "fix the typo"\n'],
  },
  { name: "a word of another tool", words: ["list"], code: 2, says: ["unknown_command", "passrail runs list"] },
  { name: "another word of another tool", words: ["login"], code: 2, says: ["passrail agent list"] },
  { name: "a mistyped flag", words: ["--verison"], code: 2, says: ["unknown_option", "Did you mean --version?"] },
  {
    name: "a mistyped flag of a command",
    words: ["run", TASK, "--agnet", "x"],
    code: 2,
    says: ["passrail run --help"],
  },
  { name: "a command without its word", words: ["runs"], code: 2, says: ["command_missing", "list, show, diff"] },
  { name: "a mistyped word of a group", words: ["runs", "shwo", "1"], code: 2, says: ['did you mean "show"?'] },
  { name: "help on a mistyped topic", words: ["help", "agnets"], code: 2, says: ['did you mean "agents"?'] },
  { name: "help on nothing", words: ["help", "nonsense"], code: 2, says: ["unknown_topic", "passrail help"] },
  { name: "an empty task", words: [""], code: 2, says: ["task_empty", 'passrail "Fix'] },
  { name: "a task of spaces", words: ["   "], code: 2, says: ["task_empty"] },
  { name: "a flow with an empty task", words: ["run", "quick", "  "], code: 2, says: ["task_empty"] },
  { name: "a task from a closed input", words: ["run", "quick", "-"], code: 2, says: ["task_empty"] },
  { name: "a task twice", words: ["run", TASK, "--ticket", "x.md"], code: 2, says: ["task_twice"] },
  {
    name: "a ticket that is not there",
    words: ["run", "quick", "--ticket", "x.md"],
    code: 1,
    says: ["ticket_not_found"],
  },
  { name: "a mistyped flow", words: ["run", "quik"], code: 1, says: ["unknown_flow", 'did you mean "quick"?'] },
  { name: "a port that is none", words: ["up", "--port", "99999"], code: 2, says: ["port_invalid"] },
  {
    name: "the dashboard without a daemon",
    words: ["open"],
    code: 1,
    says: ["daemon_not_running", "passrail up --detach"],
  },
  { name: "approving nothing", words: ["gate", "approve"], code: 1, says: ["gate_not_waiting", "passrail inbox"] },
  { name: "merging nothing", words: ["merge", "7"], code: 1, says: ["run_not_found", "passrail runs list"] },
  { name: "a diff of nothing", words: ["runs", "diff", "7"], code: 1, says: ["run_not_found"] },
  {
    name: "init without a terminal",
    words: ["init"],
    code: 2,
    says: ["confirmation_missing", "passrail init --yes"],
    prints: "# runner: claude",
  },
  { name: "a setting that is none", words: ["config", "get", "slot"], code: 2, says: ["setting_unknown", '"slots"'] },
  {
    name: "a value that is none",
    words: ["config", "set", "slots", "many"],
    code: 2,
    says: ["invalid_setting", "✖ passrail.yaml: slots: expected number, received string\n"],
  },
];

const AGENTS: readonly Input[] = [
  { name: "no agent", words: [TASK], code: 1, says: ["no_agent_ready", "@anthropic-ai/claude-code", "passrail demo"] },
  { name: "no agent, by flow", words: ["run", "quick", TASK], code: 1, says: ["no_agent_ready", "passrail demo"] },
  {
    name: "no agent, larger flow",
    words: ["run", "feature", TASK],
    code: 1,
    says: ["no_agent_ready", "@openai/codex"],
  },
  { name: "a mistyped agent", words: [TASK, "--agent", "*=cluade"], code: 1, says: ["program_missing", '"claude"'] },
  { name: "a mistyped agent alone", words: [TASK, "--agent", "cluade"], code: 2, says: ["agent_invalid", '"claude"'] },
  {
    name: "an agent that is not installed",
    words: [TASK, "--agent", "codex"],
    code: 1,
    says: ["npm install -g @openai"],
  },
  {
    name: "a script that is not there",
    words: [TASK, "--agent", "*=./x.sh"],
    code: 1,
    says: ["program_missing", "x.sh"],
  },
  { name: "a stage that is none", words: [TASK, "--agent", "biuld=true"], code: 1, says: ["unknown_agent", '"build"'] },
];

const PLACES: readonly Input[] = [
  {
    name: "no repository",
    words: [TASK, ...at("plain"), ...PLAYED],
    code: 1,
    says: ["not_a_git_repository", "git init"],
  },
  { name: "a flag before the task", words: [...at("plain"), TASK, ...PLAYED], code: 1, says: ["not_a_git_repository"] },
  { name: "no commit yet", words: [TASK, ...at("empty"), ...PLAYED], code: 1, says: ["no_commit_yet", "git add -A"] },
  {
    name: "a bare repository",
    words: [TASK, ...at("bare"), ...PLAYED],
    code: 1,
    says: ["bare_repository", "git clone"],
  },
  {
    name: "a changed file",
    words: [TASK, ...at("dirty"), ...PLAYED],
    code: 1,
    says: ["preflight_failed", "--allow-dirty"],
  },
  { name: "no such folder", words: [TASK, ...at("nowhere")], code: 1, says: ["cwd_not_found", "There is no folder"] },
  { name: "a file as folder", words: [TASK, ...at("file")], code: 1, says: ["cwd_not_found", "is a file"] },
  {
    name: "a project that nobody knows",
    words: [TASK, "--project", "acme"],
    code: 1,
    says: ["acme", "passrail projects"],
  },
  {
    name: "files that nobody approved",
    words: [TASK, ...at("foreign")],
    code: 1,
    says: ["project_not_trusted", "passrail trust"],
  },
  { name: "settings that are no YAML", words: ["config", ...at("wrong")], code: 2, says: ["yaml_syntax"] },
  {
    name: "no git",
    words: [TASK, ...PLAYED],
    code: 1,
    says: ["git_missing", "Install git"],
    env: { PATH: "/nowhere" },
  },
  {
    name: "a file as state folder",
    words: [TASK, "--home", "../file"],
    code: 2,
    says: ["home_unusable", "PASSRAIL_HOME"],
  },
  { name: "below a file", words: [TASK, "--home", "../file/x/y"], code: 2, says: ["home_unusable", "--home"] },
  { name: "a kernel's folder", words: [TASK, "--home", "/proc/passrail"], code: 2, says: ["home_unusable"] },
];

test.each([...WORDS, ...AGENTS, ...PLACES])(
  "$name: $words ends with $code",
  async ({ words, code, says, env, prints }) => {
    const main = own.git("rev-parse", "main");
    const ended = await own.passrail(words, { env: { ...own.env, ...env } });
    expect(ended).toMatchObject({ code, out: prints === undefined ? "" : expect.stringContaining(prints) });
    for (const text of says) expect(ended.err).toContain(text);
    // One shape: the mark, what to do, and the exit code with a stable code; never a stack.
    expect(ended.err).toMatch(new RegExp(`✖ .*\\(exit ${code}, code [a-z_]+\\)\\n$`, "su"));
    expect(ended.err).not.toContain("    at ");
    expect([own.git("rev-parse", "main"), own.git("status", "--porcelain")]).toEqual([main, ""]);
    expect(existsSync(join(own.home, "passrail.db"))).toBe(false);
  },
);

const LOOKS: readonly Input[] = [
  { name: "nothing", words: [], code: 0, says: ["a git repository on main", "No runs yet.", "passrail demo"] },
  {
    name: "nothing, outside of a repository",
    words: at("plain"),
    code: 0,
    says: ["is not a git repository", "passrail demo"],
  },
  { name: "version", words: ["version"], code: 0, says: ["."] },
  { name: "-v", words: ["-v"], code: 0, says: ["."] },
  { name: "a version for a report", words: ["--version", "--json"], code: 0, says: ['"node":', '"sqlite":'] },
  { name: "help", words: ["help"], code: 0, says: ["Examples:", "passrail demo"] },
  { name: "help on a command", words: ["help", "runs", "diff"], code: 0, says: ["--stat"] },
  { name: "an empty inbox", words: ["inbox"], code: 0, says: [] },
  { name: "settings of comments only", words: ["config", "get", "slots", ...at("noted")], code: 0, says: ["3"] },
];

test.each(LOOKS)("a look creates nothing: $name", async ({ words, code, says }) => {
  const ended = await own.passrail(words, { env: own.env });
  expect(ended).toMatchObject({ code });
  for (const text of says) expect(ended.out).toContain(text);
  expect(existsSync(join(own.home, "passrail.db"))).toBe(false);
});

test.runIf(process.getuid?.() === 0)("another user's repository is never worked on in place", async () => {
  for (const path of ["", ".git"]) chownSync(join(folder("others"), path), 12_345, 12_345);
  for (const flow of ["quick", "feature"]) {
    const ended = await own.passrail(["run", flow, TASK, ...at("others"), ...PLAYED], { env: own.env });
    expect(ended).toMatchObject({ code: 1, out: "" });
    expect(ended.err).toContain(`git config --global --add safe.directory ${folder("others")}`);
  }
});

test.runIf(process.getuid?.() !== 0)("a state folder that the person may not write is named with its fix", async () => {
  chmodSync(folder("tight"), 0o500);
  const ended = await own.passrail([TASK, "--home", "../tight/state", ...PLAYED], { env: own.env });
  expect(ended).toMatchObject({ code: 1, out: "" });
  expect(ended.err).toContain("you have no permission to use it");
  expect(ended.err).toContain("PASSRAIL_HOME");
});

test("a Node that is too old says which ones work", async () => {
  const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.0" } })`;
  const env = { ...own.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}` };
  const ended = await own.passrail(["runs", "list"], { env });
  expect(ended).toMatchObject({ code: 1, out: "" });
  expect(ended.err).toContain("24.18.1");
  expect(ended.err).toContain("this is 20.11.0");
});

test("under npx every command is printed as it can be typed there", async () => {
  const npx = { ...own.env, npm_command: "exec", npm_lifecycle_event: "npx", npm_lifecycle_script: "'passrail' 'x'" };
  const refused = await own.passrail([TASK], { env: npx });
  expect(refused.err).toContain(" npx passrail demo");
  const other = await own.passrail([TASK], { env: { ...npx, npm_lifecycle_script: "'vitest' 'run'" } });
  expect(other.err).toContain("  passrail demo");
  // `npm start` of a checkout, by the words of package.json.
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const start = { ...own.env, npm_lifecycle_event: "start", npm_lifecycle_script: scripts.start };
  expect((await own.passrail([TASK], { env: start })).err).toContain(" npx passrail demo");
});

describe("with a program that plays", () => {
  let world: Newcomer;
  beforeAll(() => {
    world = openNewcomer();
  });
  afterAll(() => world.remove());

  test("init twice, a detached HEAD, Ctrl-C, and a second start: nothing is lost", async () => {
    const first = await world.passrail(["init", "--yes"], { env: world.env });
    expect(first).toMatchObject({ code: 0 });
    const again = await world.passrail(["init", "--yes"], { env: world.env });
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain("settings_exist");
    expect(again.err).toContain("passrail config");
    world.git("checkout", "-q", "--detach");

    const agent = join(world.dir, "slow.sh");
    writeFileSync(agent, '#!/bin/sh\ncat > /dev/null\necho $$ > "$0.pid"\nexec sleep 60\n', { mode: 0o755 });
    const env = { ...world.env, PATH: `${world.env["PATH"]}:/usr/bin:/bin` };
    const started = world.start([TASK, "--agent", `*=${agent}`], { env });
    await until(() => existsSync(`${agent}.pid`), "the agent works", 60_000);
    const second = await world.passrail([TASK, "--agent", `*=${agent}`, "--detach"], { env });
    expect(second.code).toBe(0);
    started.child.kill("SIGINT");
    const ended = await started.ended;
    expect(ended.code).toBe(130);
    expect(ended.err).toContain("passrail runs watch 1");
    const { runs } = JSON.parse((await world.passrail(["runs", "list", "--json"])).out) as {
      runs: { number: number }[];
    };
    expect(new Set(runs.map(({ number }) => number))).toEqual(new Set([1, 2]));
    for (const run of ["1", "2"]) expect((await world.passrail(["runs", "cancel", run], { env })).code).toBe(0);
    expect(world.git("status", "--porcelain")).toBe("?? .passrail/\n?? passrail.yaml");
    for (const written of [".passrail", "passrail.yaml"]) rmSync(join(world.project, written), { recursive: true });
  });

  test("a taken port and a second daemon are told apart, and neither disturbs the first", async () => {
    const squatter = createServer().listen(0, "127.0.0.1");
    await until(() => squatter.listening, "a port is taken");
    const { port } = squatter.address() as { port: number };
    try {
      const taken = await world.passrail(["up", "--port", String(port)], { env: world.env });
      expect(taken.code).not.toBe(0);
      expect(taken.err).toContain("port_taken");
      expect(taken.err).toContain("--port");
    } finally {
      squatter.close();
    }
    expect(await world.passrail(["up", "--detach", "--port", "0"], { env: world.env })).toMatchObject({ code: 0 });
    try {
      const again = await world.passrail(["up", "--detach"], { env: world.env });
      expect(again).toMatchObject({ code: 0 });
      expect(`${again.out}${again.err}`).toContain("is up already");
      expect((await world.passrail(["up", "--port", "0"], { env: world.env })).code).toBe(3);
      expect((await world.passrail(["status"], { env: world.env })).code).toBe(0);
    } finally {
      await world.passrail(["down", "--stop-agents"], { env: world.env });
    }
  });
});
