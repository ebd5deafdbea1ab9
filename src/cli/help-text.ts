// The fixed texts of the help: examples, exit codes, and descriptions that several commands share.

export const EXAMPLES = `
Examples:
  passrail demo
  passrail "Fix the typo in the README"
  passrail run feature --ticket feature.md --agent '*=claude' --agent qa=codex
  passrail inbox
  passrail gate approve 12.1 --comment "ship it"
  passrail runs watch 12 --exit-status
  passrail runs list --json | jq -r '.runs[].id'

Name a run by its number (12), its id or the start of its id; name an inbox item by run and number (12.1).
Exit codes: passrail help exit-codes
`;

export const EXIT_CODES = `0    success: the run completed, or the command did its work
1    error: something was not found, or the machine failed
2    usage: an unknown word, flag or value
3    the run waits for a person: passrail inbox; up: another process already uses this state folder
4    credentials are missing
5    the run ended without success: stopped or canceled
6    a budget or limit is used up
8    the run has not finished: it is paused, or another process is running it
130  stopped by Ctrl-C (143 by TERM, 129 by HUP)
`;

export const RUN = "the run's number, its id or the start of its id";
export const ITEM = "run.number; optional if only one item is open";
export const RUNNER_HELP = "the program for a stage, an agent or * (repeatable)";
export const SLOTS_HELP = "how many attempts may run at once";
export const WORKSPACE_HELP = "in-place, worktree, clone, bubblewrap, docker, podman or daytona";
