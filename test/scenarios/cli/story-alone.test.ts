// `passrail run story` without a daemon: the agents find the API for the time of the run. And keys for agents outside, from the command line.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bench, openBench } from "./bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

/** Notes its three names, then runs the first example of its prompt that creates a handoff, with the token of the prompt. */
const AGENT = `printf '%s %s %s %s\\n' "$PASSRAIL_AGENT" "$DASHBOARD_URL" "$STORY_ID" "$BRANCH" >> "$NAMES"
script="$TMPDIR/$PASSRAIL_RUN_ID-$PASSRAIL_STAGE.sh"
prompt=$(cat)
printf '%s\\n' "$prompt" | sed -n "s/^PASSRAIL_TOKEN = \\(.*\\)/PASSRAIL_TOKEN='\\1'/p" > "$script"
printf '%s\\n' "$prompt" | awk '/^\`\`\`sh/ { block = ""; on = 1; next } /^\`\`\`/ { if (on && block ~ /"create"/) { printf "%s", block; exit } on = 0 } on { block = block $0 "\\n" }' >> "$script"
printf '%s\\n' "$prompt" | grep -q "^DASHBOARD_URL = $DASHBOARD_URL$" || exit 9
sh -e "$script"`;

test("R-003-38: without a daemon the agents of a story have a working address, the story's id and its branch", async () => {
  const names = join(bench.dir, "names.txt");
  const command = ["/bin/sh", "-c", `NAMES='${names}'\n${AGENT}`];
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ agents: { "*": { command } } }));
  const ended = await bench.passrail(["run", "story", "Log in", "--id", "v0.1:1.1.1"]);
  expect([ended.code, ended.err]).toEqual([0, expect.stringContaining("✔ completed")]);
  const lines = readFileSync(names, "utf8").trim().split("\n");
  const agents = ["analyst", "implementer", "reviewer", "refactorer", "documenter"];
  expect(lines.map((line) => line.split(" ")[0])).toEqual(agents);
  for (const line of lines) expect(line).toMatch(/ http:\/\/127\.0\.0\.1:\d+ v0\.1:1\.1\.1 feat\/story-1\.1\.1$/u);
  // The listener ends with the run.
  const url = lines[0]?.split(" ")[1] ?? "";
  await expect(fetch(`${url}/api/health`)).rejects.toThrow("fetch failed");
});

test("a key for an agent outside names its agent, and perhaps a story and a time", async () => {
  const make = (...args: readonly string[]) => bench.passrail(["key", "create", ...args]);
  expect(await make("--scope", "agent")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--agent implementer"),
  });
  expect(await make("x", "--agent", "reviewer")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--scope agent"),
  });
  expect(await make()).toMatchObject({ code: 2, err: expect.stringContaining("Name the owner") });
  expect(await make("x", "--expires", "soon")).toMatchObject({ code: 2, err: expect.stringContaining("30d") });
  const made = await make("--scope", "agent", "--agent", "reviewer", "--story", "v0.1:1.1.1", "--expires", "30d");
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^pr_ag_\S{43}\n$/u) });
  const listed = await bench.passrail(["key", "list", "--json"]);
  const [key] = (JSON.parse(listed.out) as { keys: Record<string, string>[] }).keys;
  expect(key).toMatchObject({ kind: "agent", name: "reviewer", agent: "reviewer", story: "v0.1:1.1.1" });
  const days = (Date.parse(key?.["expiresAt"] ?? "") - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(29.9);
  expect(days).toBeLessThan(30.1);
});
