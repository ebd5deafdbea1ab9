// The fixed texts of the help: examples first, and what the exit codes mean.

export const EXAMPLES = `
Examples:
  passrail demo
  passrail run routed "Fix the typo in the README" --agent '*=my-agent'
  passrail run feature --ticket feature.md --agent spec="claude -p" --agent build="codex exec -"
  passrail inbox
  passrail gate approve 12.1 --comment "ship it"
  passrail runs watch 12 --exit-status
  passrail runs list --json | jq -r '.runs[].id'

A run is named by its number (12), its id, or the beginning of it; an item of the inbox by run and number (12.1).
Exit codes: passrail help exit-codes
`;

export const EXIT_CODES = `0    done: the run completed, or the command did what it was asked
1    error: what was asked for is not there, or the machine failed
2    usage: a word, flag or value that is not understood
3    the run waits for a person: passrail inbox; up: another process works on this folder
4    credentials are missing
5    the run ended without success: stopped or canceled
6    a budget or limit is used up
8    the run has not come to rest: it is paused, or goes on elsewhere
130  stopped by Ctrl-C (143 by TERM, 129 by HUP)
`;

export const RUN = "number, id or beginning of an id";
export const ITEM = "run.number; may be left out where only one is open";
