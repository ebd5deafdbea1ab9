// The program of action.yml: reads the event, runs the flow, pushes the work, and reports a check with the evidence table. Plain Node, no
// packages. The words of an issue are data: they reach Passrail in a file. Agents never see the token.

import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { env } = process;
/** Who may spend the project's money. */
const TRUSTED = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

await main();

async function main() {
  const task = taskOf(JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8")));
  if (typeof task === "string") return finish("skipped", "", task);
  const home = mkdtempSync(join(env.RUNNER_TEMP ?? tmpdir(), "passrail-"));
  const shown = runFlow(task, home);
  const { conclusion, title } = conclusionOf(shown);
  const commit = pushWork(shown);
  await reportCheck({ shown, conclusion, title, commit });
  await comment(task.number, title, shown, commit);
  finish(conclusion, shown.id, title);
}

/** The task, or a sentence that says why there is none. */
function taskOf({ action, comment: said, issue, label }) {
  if (issue === undefined) return "The event is not about an issue.";
  const base = { number: issue.number, title: issue.title, body: issue.body ?? "" };
  if (said !== undefined) {
    const [first = "", ...words] = said.body.trim().split(/\s+/u);
    if (first !== env.INPUT_COMMAND) return `The comment does not begin with ${env.INPUT_COMMAND}.`;
    if (!TRUSTED.has(said.author_association)) return `${said.user.login} may not start runs here.`;
    return { ...base, note: words.join(" ") };
  }
  // Only people who may write to the repository can label its issues.
  if (action === "labeled" && label?.name === env.INPUT_LABEL) return { ...base, note: "" };
  return "No label and no comment asks for a run.";
}

function passrail(home, args) {
  const { INPUT_TOKEN: _token, GITHUB_TOKEN: _github, GH_TOKEN: _gh, ...kept } = env;
  const done = spawnSync("passrail", ["--home", home, ...args], {
    env: kept,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (done.error !== undefined) throw done.error;
  return { code: done.status, out: done.stdout };
}

/** The run as `runs show --json` has it. The files of the checked-out branch are approved: it is the project's own default branch. */
function runFlow({ number, title, body, note }, home) {
  const file = join(home, "task.md");
  writeFileSync(
    file,
    `# ${title.replaceAll("\n", " ")}\n\n${body}\n${note === "" ? "" : `\nThe person who started this adds: ${note}\n`}`,
  );
  passrail(home, ["trust", "--yes"]);
  const options = [
    "--ticket",
    file,
    "--id",
    `issue-${number}`,
    ...(env.INPUT_AGENT ? ["--agent", env.INPUT_AGENT] : []),
    ...(env.INPUT_USD ? ["--usd", env.INPUT_USD] : []),
  ];
  const { code } = passrail(home, ["--no-ask", "run", env.INPUT_FLOW, ...options]);
  const { runs } = JSON.parse(passrail(home, ["runs", "list", "--json"]).out || '{"runs":[]}');
  if (runs.length === 0) throw new Error(`Passrail started nothing (exit code ${code}); its message is above.`);
  return { ...JSON.parse(passrail(home, ["runs", "show", runs[0].id, "--json"]).out), id: runs[0].id };
}

function conclusionOf({ status, why = "", word = "" }) {
  if (status === "completed") return { conclusion: "success", title: `Completed: ${word}` };
  if (status === "waiting") return { conclusion: "action_required", title: `Waits for a person: ${why || word}` };
  return { conclusion: "failure", title: `${status}: ${why || word}` };
}

/** The branch of the run, pushed as it is; null if nothing was committed. */
function pushWork({ id }) {
  const branch = `passrail/${id}`;
  const git = (args, more = {}) => execFileSync("git", args, { encoding: "utf8", env: { ...env, ...more } }).trim();
  const tip = git(["for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`]);
  if (tip === "" || tip === git(["rev-parse", "HEAD"])) return null;
  // As variables: arguments are in the list of processes.
  const login = Buffer.from(`x-access-token:${env.INPUT_TOKEN}`).toString("base64");
  git(["push", "--quiet", "origin", `refs/heads/${branch}:refs/heads/${branch}`], {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${env.GITHUB_SERVER_URL}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${login}`,
  });
  return { branch, tip };
}

async function reportCheck({ shown, conclusion, title, commit }) {
  await github("POST", "check-runs", {
    name: "Passrail",
    head_sha: commit?.tip ?? env.GITHUB_SHA,
    status: "completed",
    conclusion,
    external_id: shown.id,
    output: { title: title.slice(0, 200), summary: summaryOf(shown).slice(0, 60_000) },
  });
}

async function comment(number, title, shown, commit) {
  const where =
    commit === null
      ? "It left no commits."
      : `The work is on [\`${commit.branch}\`](${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/compare/${commit.branch}?expand=1).`;
  await github("POST", `issues/${number}/comments`, { body: `**${plain(title)}** ${where}\n\n${summaryOf(shown)}` });
}

function summaryOf({ stages = [], evidence = [], spent }) {
  const mark = (isGood) => (isGood === null ? "" : isGood ? "✓" : "✗");
  const cost = spent === null || spent === undefined ? "not reported" : `$${spent.usd.toFixed(2)}`;
  return [
    `Stages: ${stages.map(({ id, state }) => `${plain(id)} ${plain(state ?? "")}`.trim()).join(", ")}. Cost: ${cost}.`,
    "",
    "| stage | what | who says so | | evidence |",
    "|---|---|---|---|---|",
    ...evidence.map(({ stage, attempt, what, state, isGood, evidence: text }) => {
      const who = state === "run" ? "run by Passrail" : state;
      return `| ${plain(stage)}#${attempt} | ${plain(what)} | ${plain(who)} | ${mark(isGood)} | ${plain(text)} |`;
    }),
    ...(evidence.length === 0 ? ["| | nothing was checked | | | |"] : []),
  ].join("\n");
}

/** Words of agents: no markup, no mentions, one line. */
function plain(text) {
  return String(text)
    .slice(0, 300)
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[\\`*_<>[\]|#~]/gu, String.raw`\$&`)
    .replaceAll("@", "@\u200b");
}

async function github(method, path, body) {
  const response = await fetch(`${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: { accept: "application/vnd.github+json", authorization: `Bearer ${env.INPUT_TOKEN}` },
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new Error(`GitHub refused ${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
}

function finish(conclusion, run, text) {
  console.log(text);
  if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `run=${run}\nconclusion=${conclusion}\n`);
  if (conclusion === "failure") process.exitCode = 1;
}
