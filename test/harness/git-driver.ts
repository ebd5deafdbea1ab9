// One run whose git processes somebody counts: node git-driver.ts '<case as JSON>'. Its agents note when they begin and end.

import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { customFlow } from "./custom-flow.ts";
import type { GitCase } from "./git-counts.ts";
import { openWorkbench } from "./workbench.ts";

/** `objects`: after the run, the log tells which objects are new in each of its commits. */
type Asked = GitCase & { readonly log: string; readonly path: string; readonly objects?: boolean };
const {
  mode,
  per,
  work,
  files = 0,
  seconds = 0,
  log,
  path,
  objects = false,
} = JSON.parse(process.argv[2] ?? "") as Asked;

const LINES = {
  nothing: "true",
  changes: 'echo "$PASSRAIL_STAGE" >> file.txt && echo more > "$PASSRAIL_STAGE.txt"',
  commits:
    'echo "$PASSRAIL_STAGE" >> file.txt && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm "$PASSRAIL_STAGE"',
} as const;
// `implement` has failed if it changes nothing.
const STAGES = ["research", "spec", "plan", ...(work === "nothing" ? [] : ["implement"]), "validate"];

const flow = customFlow("ticket", (file) => ({
  ...file,
  workspace: { ...file.workspace, per },
  stages: file.stages.filter(({ id }) => STAGES.includes(id)),
  enter: { "Needs Research": "research" },
}));
const bench = await openWorkbench();
for (let file = 0; file < files; file++)
  writeFileSync(join(bench.project, `${file}.txt`), `line of ${file}\n`.repeat(50));
const who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
execFileSync("git", ["-C", bench.project, "add", "-A"]);
execFileSync("git", ["-C", bench.project, ...who, "commit", "-q", "--allow-empty", "-m", "files"]);
appendFileSync(log, "agent none yet: the repository is made\n");
const note = (word: string): string => `echo "${word} $(date +%s%N)" >> '${log}'`;
const line = `PATH='${path}'; ${note("agent")}; ${LINES[work]} && sleep ${seconds} && ${note("done")}`;
const runners: JsonObject = Object.fromEntries(STAGES.map((stage) => [stage, ["/bin/sh", "-c", line]]));
const run = await bench.run(
  flow,
  {},
  {
    subject: "AGI-7",
    facts: { ticket: { repo: "org/app", status: "Needs Research" }, config: { workspace: mode }, runners },
  },
);
const problems = [
  ...bench.errors.map(String),
  ...(run.status === "completed" ? [] : [JSON.stringify(run).slice(0, 2000)]),
];
if (objects) {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" })
      .trim()
      .split("\n");
  for (const commit of git("rev-list", "--reverse", "--branches", "^HEAD"))
    appendFileSync(
      log,
      `commit ${git("rev-list", "--objects", "--no-object-names", commit, `^${commit}^`).join(" ")}\n`,
    );
}
await bench.close();
if (problems.length > 0) throw new Error(`${problems.join("; ")}\n${readFileSync(log, "utf8").slice(-2000)}`);
