// Commands of the pages that no test executes, each with the reason. The list may only shrink: `LIMIT` goes down with it, and an entry that
// matches no command of its page fails the test. A `passrail` command in it must still parse.

export type NotRun = { readonly page: string; readonly begins: string; readonly why: string };

export const NOT_RUN: readonly NotRun[] = [
  { page: "README.md", begins: "git clone", why: "the address of the repository is the reader's" },
  {
    page: "README.md",
    begins: "npm ci && npm start",
    why: "replaces the installed packages; CI runs npm ci, test/scenarios/cli/demo.test.ts the demo",
  },
  { page: "README.md", begins: "npm ci && npm test", why: "the test would start itself" },
  { page: "docs/benchmarks.md", begins: "npm run", why: "minutes long; CI runs the build, people run the benchmarks" },
  { page: "docs/mcp.md", begins: "claude mcp add", why: "changes the settings of a vendor's program" },
  { page: "docs/mcp.md", begins: "codex mcp add", why: "changes the settings of a vendor's program" },
  { page: "docs/sandboxes.md", begins: "sudo apt install", why: "installs a package of the operating system" },
];

export const LIMIT = 7;

/** Commands that `usage` blocks name and that no page executes. */
export const NEVER_CALLED: Readonly<Record<string, string>> = {
  "agent resume": "needs a runner over its limit; test/scenarios/cli/agent-cli.test.ts runs it",
  "key pair": "needs an address for other machines; test/scenarios/daemon/exposure.test.ts runs it",
  replay: "needs an agent CLI and its tape; test/contract/replay.test.ts runs it",
  "sandbox build": "needs an engine of containers and an image; test/scenarios/sandbox/podman.test.ts runs it",
  "sandbox test": "needs a sandbox; test/scenarios/sandbox/podman.test.ts runs it",
  "runs steer": "needs an agent at work; test/contract/spoken-to.test.ts runs it",
  "runs takeover": "needs an agent at work; test/contract/takeover.test.ts runs it",
  worker: "needs a daemon and a second machine; test/scenarios/worker/joined.test.ts runs it",
  "worker cordon": "needs a daemon and a second machine; test/scenarios/worker/joined.test.ts runs it",
  "worker drain": "needs a daemon and a second machine; test/scenarios/worker/joined.test.ts runs it",
  "worker list": "needs a daemon and a second machine; test/scenarios/worker/joined.test.ts runs it",
  "worker open": "needs a daemon and a second machine; test/scenarios/worker/joined.test.ts runs it",
  "runs handback": "needs a stage that was taken over; test/contract/takeover.test.ts runs it",
  backup: "needs a store with runs; test/scenarios/daemon/postgres.test.ts runs it",
  migrate: "needs a Postgres; test/scenarios/daemon/postgres.test.ts runs it",
  restore: "needs a backup; test/scenarios/daemon/postgres.test.ts runs it",
  demo: "takes a quarter of a minute; test/scenarios/cli/demo.test.ts runs it",
};
