// S10 with real processes: a file by which a project decides what runs, written by anybody but an operator, never becomes a program, a prompt,
// a gate or a limit. One planter writes all of them at once; each cell looks for the effect of one file.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { planRun } from "../../../src/app/start-run/start-run.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { loadSettings, projectEnvironment } from "../../../src/settings/load.ts";
import { flowOf } from "../../../src/store/flow-of.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { gitIn } from "./world.ts";

const FLOW = (gate: boolean, output: string): string => `flow: small
version: 1
subject: task
allow_ungated: true
workspace: { mode: in-place }
defaults: { result: { from: exit-code }, limits: { output: ${output} } }
words: { health: { "0": complete }, unknown_health: failed, unknown_verdict: pass }
stages:
  - { id: build, agent: worker, route: { failed: { goto: self, once: true, else: next } } }
  - { id: check, agent: helper }
  - { id: tell, agent: helper, prompt: task }
${gate ? "  - { id: ship, kind: gate }\n" : ""}`;

const agentFile = (name: string, text: string): string => `---\nname: ${name}\ndescription: works\n---\n${text}\n`;

/** Path -> content. `canary` is the folder in which a program that nobody approved leaves its name. */
function projectFiles(program: readonly string[], canary: string, isEvil: boolean): Readonly<Record<string, string>> {
  const word = (file: string): string => (isEvil ? `CANARY of ${file}` : "Work.");
  const command = isEvil ? ["/bin/sh", "-c", `touch ${canary}/passrail.yaml`] : program;
  const merge = { mode: isEvil ? "merge" : "pr" };
  return {
    "passrail.yaml": JSON.stringify({ agents: { "*": { command } }, merge }),
    ".passrail/flows/small.yaml": FLOW(!isEvil, isEvil ? "9mb" : "1mb"),
    ".passrail/agents/worker.md": agentFile("worker", word(".passrail/agents/worker.md")),
    ".claude/agents/helper.md": agentFile("helper", word(".claude/agents/helper.md")),
    ".passrail/prompts/task.md": `${word(".passrail/prompts/task.md")}\n`,
  };
}

const GIT_FILES = [".git/config", ".git/config.worktree", ".git/hooks/post-commit"] as const;

/** $1: what this agent does. Every stage is played by it; only the first attempt of the first stage of a run plants. */
const WORKER = `#!/bin/sh
cat > /dev/null
cd "$(dirname "$0")"; . ./vars.sh; cd "$OLDPWD"
plant_tree() { cp -r "$evil"/. .; echo "MAX_WORKERS=77" > .env; }
plant_git() {
  git config core.fsmonitor "touch $canary/.git/config; false"
  git config extensions.worktreeConfig true; git config --worktree core.hooksPath "$canary/hooks"
  mkdir -p "$canary/hooks"; hooks="$(git rev-parse --git-common-dir)/hooks"; mkdir -p "$hooks"
  for hook in "$canary/hooks/post-commit:.git/config.worktree" "$hooks/post-commit:.git/hooks/post-commit"; do
    printf '#!/bin/sh\\nmkdir -p %s/.git/hooks; touch %s/%s\\n' "$canary" "$canary" "\${hook##*:}" > "\${hook%:*}"; chmod +x "\${hook%:*}"
  done
}
test "$PASSRAIL_STAGE-$PASSRAIL_ATTEMPT" = build-1 || exit 0
case "$planting" in
  none) ;;
  "a child") (plant_tree) & wait ;;
  "an earlier attempt") plant_tree; exit 1 ;;
  git) plant_git ;;
  *) plant_tree ;;
esac
`;

let dir: string;
let bench: Workbench;
let canary: string;
beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-files-")));
  canary = join(dir, "canary");
  const project = newRepository(dir);
  const worker = join(dir, "worker.sh");
  writeFileSync(worker, WORKER, { mode: 0o700 });
  for (const folder of ["canary", "evil"]) mkdirSync(join(dir, folder));
  write(project, projectFiles(["/bin/sh", worker], canary, false));
  write(join(dir, "evil"), projectFiles([], canary, true));
  writeFileSync(join(project, ".gitignore"), ".env\n");
  writeFileSync(join(project, ".env"), "MAX_WORKERS=3\n");
  gitIn(project, "add", "-A");
  gitIn(project, "commit", "-q", "-m", "settings");
  bench = await openWorkbench({ place: { dir, project } });
});
afterAll(() => bench.close());

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

type Planting =
  | "none"
  | "a child"
  | "an earlier attempt"
  | "an earlier stage"
  | "another run"
  | "a landed commit"
  | "git";

async function settings() {
  const site = { home: bench.home, project: bench.project };
  const environment = projectEnvironment({ ...site, environment: process.env });
  return environment.ok ? loadSettings({ ...site, environment: environment.value, flags: {} }) : environment;
}

async function start(planting: Planting, workspace: "in-place" | "worktree" = "in-place"): Promise<Run> {
  const variables = { planting, canary, evil: join(dir, "evil") };
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  writeFileSync(join(dir, "vars.sh"), `${lines.join("\n")}\n`);
  const place = { home: bench.home, project: bench.project, settings };
  const subject = { id: `F-${++runs}`, title: "Do it", body: "All of it." };
  const plan = await planRun(place, { flow: "small", subject, input: [], workspace });
  if (!plan.ok) throw new Error(plan.error.message);
  await bench.passrail.engine.startRun({ ...plan.value, actor: "human:tester" });
  await bench.passrail.engine.idle();
  return bench.load(plan.value.runId);
}
let runs = 0;

/** Who plants, and how the run goes whose effects are looked at. */
const PLANTERS: Readonly<Record<string, () => Promise<Run>>> = {
  "an earlier stage": () => start("an earlier stage"),
  "an earlier attempt": () => start("an earlier attempt"),
  "a child": () => start("a child"),
  "another run": async () => {
    await start("another run");
    return start("none");
  },
  "a landed commit": async () => {
    const run = await start("a landed commit", "worktree");
    const branch =
      gitIn(bench.project, "for-each-ref", "--format=%(refname:short)", "--sort=-committerdate", "refs/heads").split(
        "\n",
      )[0] ?? "";
    expect(gitIn(bench.project, "diff", "--name-only", `main...${branch}`)).toContain("passrail.yaml");
    gitIn(bench.project, "merge", "-q", "--no-ff", "-m", `lands ${run.id}`, branch);
    return start("none");
  },
};

/** What takes effect when nobody approved it: the name of the file, and what it became. */
async function effectsOf(run: Run): Promise<readonly string[]> {
  const prompts = readdirSync(join(bench.home, "runs", run.id))
    .map((attempt) => join(bench.home, "runs", run.id, attempt, "prompt.md"))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"));
  const [first] = (await flowOf(bench.passrail.store, run)).flow.stages;
  const current = await settings();
  const slots = current.ok ? current.value.slots.value : 0;
  return [
    ...readdirSync(canary).map((file) => `${file}: program`),
    ...["worker", "helper", "task"].flatMap((name) =>
      prompts.some((text) => text.includes(`${name}.md`) && text.includes("CANARY")) ? [`${name}.md: prompt`] : [],
    ),
    ...(openItems(run).some(({ kind, stage }) => kind === "gate" && stage === "ship") ? [] : ["small.yaml: gate"]),
    ...(first?.kind === "agent" && first.limits.outputBytes > 1024 * 1024 ? ["small.yaml: limit"] : []),
    ...(JSON.stringify(run.facts["config"]).includes('"merge_mode":"merge"') ? ["passrail.yaml: gate"] : []),
    ...(slots === 77 ? [".env: limit"] : []),
  ];
}

const CELLS = [
  "passrail.yaml: program",
  "passrail.yaml: gate",
  "small.yaml: gate",
  "small.yaml: limit",
  "worker.md: prompt",
  "helper.md: prompt",
  "task.md: prompt",
  ".env: limit",
];

function restore(): void {
  gitIn(bench.project, "reset", "-q", "--hard");
  gitIn(bench.project, "clean", "-qfd");
  writeFileSync(join(bench.project, ".env"), "MAX_WORKERS=3\n");
  rmSync(canary, { recursive: true, force: true });
  mkdirSync(canary);
}

test("S10: when a person approves the same files, each of them takes effect", async () => {
  restore();
  await start("another run");
  approveFiles(bench.home, bench.project);
  try {
    expect([...(await effectsOf(await start("none")))].sort()).toEqual([...CELLS].sort());
  } finally {
    restore();
    approveFiles(bench.home, bench.project);
  }
});

test("S10: the files of a repository that nobody approved start nothing", async () => {
  restore();
  const clone = join(dir, "clone");
  gitIn(dir, "clone", "-q", bench.project, clone);
  write(clone, projectFiles([], canary, true));
  const place = { home: join(dir, "other-home"), project: clone };
  const config = await loadSettings({ ...place, environment: process.env, flags: {} });
  const subject = { id: "F-0", title: "Do it", body: "" };
  for (const flow of ["small", "feature"]) {
    const plan = await planRun({ ...place, settings: async () => config }, { flow, subject, input: [] });
    expect(plan).toMatchObject({ ok: false, error: { code: "project_not_trusted" } });
  }
  expect(config).toMatchObject({ ok: false, error: { code: "project_not_trusted" } });
  expect(readdirSync(canary)).toEqual([]);
});

describe.each(["in-place", "worktree"] as const)(
  "S14: planted in the shared .git by an agent in a workspace %s",
  (mode) => {
    let left: readonly string[] = [];
    beforeAll(async () => {
      restore();
      await start("git", mode);
      // The next commands of the person.
      gitIn(bench.project, "status");
      gitIn(bench.project, "commit", "-q", "--allow-empty", "-m", "by the person");
      left = GIT_FILES.filter((file) => existsSync(join(canary, file)));
    });
    test.each(GIT_FILES)("%s is no program", (file) => expect(left).not.toContain(file));
  },
);

describe.each(Object.keys(PLANTERS))("S10: planted by %s", (planter) => {
  let effects: readonly string[] = [];
  beforeAll(async () => {
    restore();
    const run = await PLANTERS[planter]?.();
    const isPlanted = readFileSync(join(bench.project, "passrail.yaml"), "utf8").includes(canary);
    effects = run !== undefined && isPlanted ? await effectsOf(run) : CELLS;
  });
  test.each(CELLS)("%s does not take effect", (cell) => expect(effects).not.toContain(cell));
});
