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

const EXIT_CODES = `0    success: the run completed, or the command did its work
1    error: something was not found, or the machine failed
2    usage: an unknown word, flag or value
3    the run waits for a person: passrail inbox; up: another process already uses this state folder
4    credentials are missing
5    the run ended without success: stopped or canceled
6    a budget or limit is used up
8    the run has not finished: it is paused, or another process is running it
130  stopped by Ctrl-C (143 by TERM, 129 by HUP)
`;

/** `passrail help TOPIC`, beside the names of commands. */
export const TOPICS: Readonly<Record<string, string>> = {
  "exit-codes": EXIT_CODES,
  "first-steps": `passrail                                 what is here, and what to do next
passrail doctor                          what works on this machine, with the fix of everything that does not
passrail init                            writes passrail.yaml with your checks, after showing it
passrail "Fix the typo in the README"    builds it on a branch of its own, checks it, reviews it, and asks you
passrail runs diff 1                     looks at the change
passrail merge 1                         merges it
passrail demo                            shows a whole run; no agent, no key
`,
  agents: `Claude Code, Codex, Gemini CLI and opencode are found on the PATH. The first that is logged in plays all agents of a run.
passrail agent list                      what is installed and logged in, and the command that fixes it
passrail agent test claude               one tiny attempt from end to end
--agent claude                           this one plays all stages of the run
--agent build=codex                      this one plays one stage
--agent build=claude,codex               a ladder: codex where claude is over its limit, logged out or missing
--agent '*=./my-agent.sh'                a program of your own: prompt on standard input, verdict on the last line
passrail config set runner claude        the project's default
`,
  naming: `A run: its number (12 or #12), its id, or the start of its id.
An inbox item: run and number (12.1); the run alone if it has one open item; nothing if only one is open.
A ticket: AGI-7, agi-7 or 7.
An attempt: stage and number (build#2).
`,
  environment: `PASSRAIL_HOME            the state folder (default: passrail below XDG_STATE_HOME, ~/.local/state)
XDG_CONFIG_HOME          where your own passrail/passrail.yaml is (default: ~/.config)
PASSRAIL_SLOTS           how many attempts may run at once; also MAX_WORKERS
PASSRAIL_RUNNER          the default runner: claude, codex, gemini, opencode
PASSRAIL_WORKSPACE       where agents work: worktree, clone, in-place, bubblewrap, docker, podman, daytona
PASSRAIL_PORT            the daemon's port
PASSRAIL_DEBUG=1         prints where an unexpected error came from
NO_COLOR                 no colours
passrail config explain KEY names the variable of a setting.
`,
};

export const RUN = "the run's number, its id or the start of its id";
export const ITEM = "run.number; optional if only one item is open";
export const RUNNER_HELP = "the program for a stage, an agent or * (repeatable)";
export const SLOTS_HELP = "how many attempts may run at once";
export const WORKSPACE_HELP = "in-place, worktree, clone, bubblewrap, docker, podman or daytona";
