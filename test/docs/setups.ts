// What a reader of a page has before its first command: files, settings, stand-ins for coding agents, perhaps a daemon.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fence } from "./pages.ts";
import { type Place, ROOT } from "./place.ts";

/** Prepares a place and returns the shell lines that come before the first command of the page. */
export type Setup = (place: Place, fences: readonly Fence[]) => string | Promise<string>;

const UP = "passrail up --detach";
const START = `passrail run feature "Add login" --id F-1 -q > /dev/null || test $? -eq 3`;

const TICKETS = `TICKETS:
- title: Store users
  description: A table and a module for users.
  repo: project
- title: REST routes for users
  description: Routes that create, read, change and delete users.
  repo: project
  dependsOn: ["#1"]
`;

const TICKET = `---
id: AGI-5
title: Sessions
repo: project
status: Backlog
---

Keep people logged in.
`;

/** The verdict that an agent's stage accepts; agents of tickets need none. */
const AGENT = `prompt=$(cat)
file=$(printf %s "$prompt" | sed -n 's/.*\`\\([^\`]*verdict.json\\)\`.*/\\1/p' | head -1)
nonce=$(printf %s "$prompt" | sed -n 's/.*"nonce": "\\([^"]*\\)".*/\\1/p' | tail -1)
say() { echo "{\\"verdict\\": \\"$1\\", \\"nonce\\": \\"$nonce\\"}" > "$file"; }
case "$PASSRAIL_AGENT" in
  [iI][nN]1 | [iI][nN]5) say APPROVED ;;
  [iI][nN]2) echo change >> change.txt && say COMPLETE ;;
  [iI][nN]6) say SHIP ;;
  builder | reviewer) case "$PASSRAIL_STAGE" in
    build) echo change >> change.txt && say DONE ;;
    review) say APPROVED ;;
    *) echo change >> change.txt && say APPROVE ;;
  esac ;;
  spec) cat "$(dirname "$0")/tickets.yaml" ;;
  worker) echo "$PASSRAIL_STAGE" >> change.txt ;;
  *) echo done ;;
esac
`;

export const SETUPS: Readonly<Record<string, Setup>> = {
  "README.md": withAgent,
  "docs/agents.md": (place) => {
    codingAgents(place);
    place.write("passrail.yaml", "budgets: { run: { usd: 0.5 } }\n");
    return `passrail run feature "Add login" --agent '*=claude' -q > /dev/null || true
passrail gate approve 1.1 -q > /dev/null 2>&1 || true`;
  },
  "docs/api.md": () => UP,
  "docs/build-plan.md": (place) => {
    codingAgents(place);
    place.write("docs/spec.md", "# Names\n\nEvery user has a name.\n");
    place.write("docs/plan.md", "# Plan\n\nComplexity: standard\n");
    place.write("docs/task.md", "# Show names\n\n- [ ] names are shown\n");
    return `export PASSRAIL_PACKAGE=${ROOT}
git add -A && git commit -q -m "The plan"`;
  },
  "docs/coming-from-agent-teams.md": withAgent,
  "docs/coming-from-hand-routing.md": withAgent,
  "docs/cli.md": (place) => {
    withAgent(place);
    place.write("passrail.yaml", "agents: { '*': { command: [my-agent] } }\nmerge: { mode: merge }\n");
    place.write(
      "feature_requests/FR-1/AGI-7.md",
      TICKET.replace("AGI-5", "AGI-7").replace("status:", "workflow: oneshot\nstatus:"),
    );
    place.write("my-agent.sh", "#!/bin/sh\n");
    return "chmod +x my-agent.sh; git add .; git commit -q -m second; echo more >> passrail.yaml.note; git add -N .";
  },
  "docs/daemon.md": () => UP,
  "docs/handoffs.md": (place) => {
    place.write("passrail.yaml", "runner: outside\n");
    return UP;
  },
  "docs/outside-agents.md": (place) => {
    place.write("passrail.yaml", "runner: outside\n");
    return UP;
  },
  "docs/intake.md": (place) => {
    codingAgents(place, [[{ say: TICKETS }]]);
    place.program("gh", process.execPath, join(ROOT, "test/fixtures/gh.mjs"));
    const issues = [
      {
        number: 12,
        title: "From GitHub",
        body: "",
        labels: [{ name: "agent" }],
        url: "https://github.com/owner/repo/issues/12",
      },
    ];
    writeFileSync(join(place.bin, "github.json"), JSON.stringify({ issues }));
    place.write("issues.csv", "id,title\n1,From a table\n");
    place.write("issues.json", JSON.stringify([{ id: 2, title: "From a list" }]));
    return "";
  },
  "docs/mcp.md": () => UP,
  "docs/tickets.md": (place) => {
    place.write("feature_requests/FR-1/AGI-5.md", TICKET);
    return "";
  },
  "docs/triggers.md": (place, fences) => {
    withAgent(place);
    place.write("docs/specs/a.md", "Users can log in.\n");
    const triggers = fences.find(({ lines }) => lines[0] === "triggers:")?.lines.join("\n");
    place.write("passrail.yaml", `agents: { '*': { command: [my-agent] } }\n${triggers}\n`);
    return "";
  },
  "docs/webhooks.md": async (place, fences) => {
    withAgent(place);
    const sink = await place.serve();
    const inbound = fences.find(({ lines }) => lines[1] === "webhooks:")?.lines.join("\n") ?? "";
    const out = `notify: { endpoints: [{ name: team, format: slack, url_file: ~/.config/passrail/slack.url, allow_http: true, allow_private: true }] }`;
    return `mkdir -p ~/.config/passrail && umask 077
cat > ~/.config/passrail/passrail.yaml <<'END'
${inbound}
${out}
END
echo "whsec_$(head -c 32 /dev/zero | base64)" > ~/.config/passrail/tracker.secret
echo "0123456789abcdef0123" > ~/.config/passrail/github.secret
echo "${sink}" > ~/.config/passrail/slack.url
${START}
${UP}`;
  },
  "docs/trust.md": (place) => {
    codingAgents(place);
    return "";
  },
  "docs/workspaces.md": (place) => {
    withAgent(place);
    return `${START}\npassrail gate approve 1.1 -q > /dev/null || test $? -eq 3`;
  },
  "test/docs/tour.md": (place) => {
    codingAgents(place);
    place.write(
      "passrail.yaml",
      "agents: { '*': { command: [my-agent] } }\nbudgets: { run: { usd: 0.5 } }\ntickets: { backlog_entry: oneshot }\n",
    );
    return "";
  },
};

/** A program `my-agent` that plays every agent, and settings that name it. */
function withAgent(place: Place): string {
  codingAgents(place);
  place.write("passrail.yaml", "agents: { '*': { command: [my-agent] } }\n");
  return "";
}

/**
 * `my-agent` writes two tickets where tickets are asked for, else the verdict that its stage accepts. Programs named like the vendors' own talk
 * like Claude Code; no model, no network.
 */
function codingAgents(place: Place, spec: unknown = submit("APPROVED")): void {
  writeFileSync(join(place.bin, "tickets.yaml"), TICKETS);
  writeFileSync(join(place.bin, "my-agent.sh"), AGENT);
  place.program("my-agent", "/bin/sh", join(place.bin, "my-agent.sh"));
  const talk = join(place.bin, "talk.json");
  const said = {
    test: [[{ submit: { verdict: "pass", summary: "it works" } }]],
    spec,
    design: submit("APPROVED"),
    build: [[{ write: { path: "change.txt", text: "change" } }, { submit: { verdict: "COMPLETE" } }]],
    qa: submit("SHIP"),
  };
  writeFileSync(talk, JSON.stringify(said));
  for (const name of ["claude", "codex", "goose"])
    place.program(name, process.execPath, join(ROOT, "test/fixtures/agents/coding-agent.mjs"), talk);
}

function submit(verdict: string): unknown {
  return [[{ submit: { verdict } }]];
}
