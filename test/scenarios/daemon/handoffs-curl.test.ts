// The calls of source 003 as it writes them, made by a shell with the real curl against the real daemon; only the address and the token
// are added. And the calls of the shipped prompts, made by agents that the daemon starts.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { approveFiles } from "../../harness/approve-files.ts";
import { until } from "../../harness/until.ts";
import { type Running, startDaemon } from "./running.ts";

let daemon: Running;
afterEach(() => daemon.close());

const STORY = "v0.1:1.1.1";

const CREATE = `curl -X POST /api/handoffs \\
  -d '{
    "action": "create",
    "storyId": "v0.1:1.1.1",
    "fromAgent": "analyst",
    "toAgent": "implementer",
    "payload": { "plan": "..." }
  }'`;
const ACCEPT = `curl -X POST /api/handoffs \\
  -d '{ "action": "accept", "handoffId": 1 }'`;
const REJECT = `curl -X POST /api/handoffs \\
  -d '{
    "action": "reject",
    "handoffId": 1,
    "reason": "Tests failing"
  }'`;
const TIMEOUT = `curl -X POST /api/handoffs \\
  -d '{ "action": "timeout", "handoffId": 1 }'`;
const CLEANUP = `curl -X POST /api/handoffs \\
  -d '{ "action": "cleanup", "storyId": "v0.1:1.1.1" }'`;
const STATE = "GET /api/handoffs?storyId=v0.1:1.1.1";
const PENDING = "GET /api/handoffs?storyId=v0.1:1.1.1&agent=implementer";
const STALE = "GET /api/handoffs?stale=true&minutes=30";

/** A story that agents outside work on, in a store that has no other: its first handoff has the number of the examples. */
async function begin(): Promise<void> {
  daemon = await startDaemon();
  writeFileSync(join(daemon.project, "passrail.yaml"), "runner: outside\n");
  approveFiles(daemon.home, daemon.project);
  const body = { action: "start", storyId: STORY, title: "Log in", body: "As a user …" };
  const started = await daemon.call("POST", "/api/run", { body });
  expect([started.status, started.text]).toEqual([200, expect.stringContaining(STORY)]);
}

/** A key of its own for an agent outside. */
async function keyOf(agent: string): Promise<string> {
  const body = { name: agent, kind: "agent", agent, story: STORY };
  return String((await daemon.call("POST", "/api/keys", { body })).body["token"]);
}

/** The line with address and token put in; what curl printed. */
function curl(line: string, by = daemon.token): Record<string, unknown> {
  const token = '-sS -H "Authorization: Bearer $TOKEN"';
  const script = line.startsWith("GET ")
    ? `curl ${token} "$URL${line.slice("GET ".length)}"`
    : line.replace("curl -X POST /", `curl ${token} -X POST $URL/`);
  const env = { PATH: process.env["PATH"] ?? "", URL: daemon.url, TOKEN: by };
  return JSON.parse(execFileSync("sh", ["-ec", script], { env, encoding: "utf8" })) as Record<string, unknown>;
}

test("R-003-30: the queries, accept, reject, create and the clean-up, as they are documented", async () => {
  await begin();
  const [analyst, implementer] = [await keyOf("analyst"), await keyOf("implementer")];
  expect(curl(STATE, analyst)).toMatchObject({
    currentAgent: "analyst",
    phase: "analyzing",
    handoffs: [{ id: 1, story_id: STORY, from_agent: "orchestrator", to_agent: "analyst", status: "pending" }],
  });
  // The agents make these calls with keys of their own; another agent's is refused.
  expect(curl(ACCEPT, implementer)).toMatchObject({ status: 403 });
  expect(curl(ACCEPT, analyst)).toMatchObject({ success: true, handoff: { id: 1, status: "accepted" } });
  expect(curl(ACCEPT, analyst)).toMatchObject({ status: 409, error: expect.stringContaining("Handoff 1 is accepted") });
  const rejected = curl(REJECT, analyst);
  expect(rejected).toMatchObject({
    success: true,
    handoff: { id: 1, status: "rejected", rejection_reason: "Tests failing" },
  });
  // Nobody stands before the analyst: a person says that it shall go on.
  const path = `/api/inbox/${String(rejected["inbox"])}/answer`;
  expect((await daemon.call("POST", path, { body: { answer: "again" } })).status).toBe(200);
  expect(curl(PENDING, implementer)).toEqual({ handoff: null });
  expect(curl(CREATE, implementer)).toMatchObject({ status: 403 });
  expect(curl(CREATE, analyst)).toMatchObject({
    success: true,
    handoff: { id: 3, from_agent: "analyst", to_agent: "implementer", status: "pending", payload: { plan: "..." } },
  });
  expect(curl(PENDING, implementer)).toMatchObject({ handoff: { id: 3, to_agent: "implementer" } });
  expect(curl(STALE, implementer)).toEqual({ stale: [], thresholdMinutes: 30 });
  expect(curl(CLEANUP, implementer)).toMatchObject({ status: 403 });
  expect(curl(CLEANUP)).toEqual({ success: true, deleted: 1 });
  expect(curl(STATE)).toMatchObject({
    currentAgent: null,
    handoffs: [{ status: "rejected" }, { status: "accepted" }, { status: "rejected" }],
  });
});

/** Reads its prompt and runs the first example in it that creates a handoff, with the token on a line before it, as the prompt says. */
const AGENT = `script="$TMPDIR/$PASSRAIL_RUN_ID-$PASSRAIL_STAGE.sh"
prompt=$(cat)
printf '%s\\n' "$prompt" | sed -n "s/^PASSRAIL_TOKEN = \\(.*\\)/PASSRAIL_TOKEN='\\1'/p" > "$script"
printf '%s\\n' "$prompt" | awk '/^\`\`\`sh/ { block = ""; on = 1; next } /^\`\`\`/ { if (on && block ~ /"create"/) { printf "%s", block; exit } on = 0 } on { block = block $0 "\\n" }' >> "$script"
sh -e "$script"`;

test("R-003-39: a timeout as it is documented; then agents that the daemon starts hand a story on by the lines of their own prompts", async () => {
  await begin();
  expect(curl(TIMEOUT)).toMatchObject({
    success: true,
    handoff: { id: 1, status: "rejected", rejection_reason: "Agent timed out" },
  });
  const story = "v0.1:1.1.2";
  const settings = { agents: { "*": { command: ["/bin/sh", "-c", AGENT] } } };
  writeFileSync(join(daemon.project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(daemon.home, daemon.project);
  await daemon.call("POST", "/api/run", { body: { action: "start", storyId: story } });
  const rows = await until("the story is complete", async () => {
    const { body } = await daemon.call("GET", `/api/handoffs?storyId=${story}`);
    const { phase, handoffs } = body as unknown as { phase: string; handoffs: Record<string, unknown>[] };
    return phase === "complete" ? handoffs : undefined;
  });
  expect(rows.map((row) => `${String(row["from_agent"])}→${String(row["to_agent"])} ${String(row["status"])}`)).toEqual(
    [
      "orchestrator→analyst accepted",
      "analyst→implementer accepted",
      "implementer→reviewer accepted",
      "reviewer→refactorer accepted",
      "refactorer→documenter accepted",
      "documenter→orchestrator accepted",
    ],
  );
  const { body } = await daemon.call("GET", "/api/runs?limit=1");
  const [run] = (body as unknown as { runs: { id: string; status: string }[] }).runs;
  expect(run?.status).toBe("completed");
  const { body: history } = await daemon.call("GET", `/api/runs/${run?.id}/events?limit=200`);
  const finished = (history as unknown as { events: { event: { type: string; actor: string } }[] }).events
    .map(({ event }) => event)
    .filter(({ type }) => type === "stage.finished");
  expect(finished.map(({ actor }) => actor)).toEqual([
    "agent:analyst",
    "agent:implementer",
    "agent:reviewer",
    "agent:refactorer",
    "agent:documenter",
  ]);
});
