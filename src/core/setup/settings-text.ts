// The first passrail.yaml of a project, short and with comments.

import type { ProposedSettings, ProposedCheck } from "./propose.ts";

export type FirstSettings = {
  readonly editorLine: string;
  /** Null where no agent is ready. */
  readonly runner: { readonly runner: string; readonly version: string } | null;
  readonly proposal: ProposedSettings;
  /** Checks that failed when they were tried, with the reason. */
  readonly red: ReadonlyMap<string, string>;
};

/** `editorLine`: where an editor finds the schema. */
export function settingsText({ editorLine, runner, proposal: { checks, setup }, red }: FirstSettings): string {
  const green = checks.filter(({ name }) => !red.has(name));
  const failed = checks.filter(({ name }) => red.has(name));
  return [
    editorLine,
    "# Passrail's settings for this project; `passrail settings` lists all of them. This file decides what runs: changes wait for `passrail trust`.",
    "",
    ...runnerLines(runner),
    "",
    "# Passrail runs these itself on finished work; a red one sends the work back to its builder.",
    green.length === 0 ? "# checks: { test: [npm, test] }" : "checks:",
    ...green.map((each) => `  ${checkText(each)}`),
    ...failed.map((each) => `  # ${checkText(each)} # it is red before any change: ${red.get(each.name) ?? ""}`),
    "",
    "# Prepares every fresh worktree, once.",
    setup.length === 0
      ? "# workspaces: { setup: [[npm, ci]] }"
      : `workspaces: { setup: ${list(setup.map((command) => list(command.map(word))))} }`,
    "",
    "# What happens to approved work: merge lands it, pr opens a pull request. Without it the work stays on its branch for `passrail merge`.",
    "# merge: { mode: pr }",
    "",
    "# budgets: { run: { usd: 5 }, day: { usd: 20 } }",
    "",
  ].join("\n");
}

function runnerLines(runner: FirstSettings["runner"]): readonly string[] {
  const about = "# Who plays the agents: claude, codex, gemini or opencode.";
  return runner === null
    ? [`${about} None was ready here.`, "# runner: claude"]
    : [`${about} ${runner.runner} was ready here.`, `runner: ${runner.runner}`];
}

function checkText({ name, run, parse }: ProposedCheck): string {
  const words = list(run.map(word));
  return parse === undefined ? `${name}: ${words}` : `${name}: { run: ${words}, parse: ${parse} }`;
}

function list(words: readonly string[]): string {
  return `[${words.join(", ")}]`;
}

function word(text: string): string {
  return /^[A-Za-z][\w./-]*$/u.test(text) && !["true", "false", "null", "yes", "no"].includes(text)
    ? text
    : JSON.stringify(text);
}
