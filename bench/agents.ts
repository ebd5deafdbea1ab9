// The overhead that Passrail adds to a coding agent: from the start command until the program runs, and per streamed event.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClaudeReader } from "../src/runner/claude/stream.ts";
import { createClaudeRunner } from "../src/runner/claude/runner.ts";
import { createStreamRedactor } from "../src/runner/process/redactor.ts";
import { splitLines } from "../src/runner/process/stream.ts";
import { createRedaction } from "../src/core/secrets/redaction.ts";
import { openEventLog } from "../src/attempt/event-log.ts";
import { inFolder, median, type Row } from "./measure.ts";

const STARTS = 15;
const EVENTS = 20_000;

export async function measureAgents(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => [await measureStart(dir), measureEvents(dir)]);
}

/** A program that prints its start time; started directly and by the runner in turns. */
async function measureStart(dir: string): Promise<Row> {
  const program = join(dir, "agent.sh");
  const result = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "" });
  writeFileSync(program, `#!/bin/sh\ndate +%s%N >> ${join(dir, "began")}\ncat > /dev/null\necho '${result}'\n`, {
    mode: 0o755,
  });
  const took: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const bare = await began(
      dir,
      () =>
        new Promise((resolve) =>
          spawn(program, { stdio: ["pipe", "ignore", "ignore"] })
            .on("exit", resolve)
            .stdin?.end(),
        ),
    );
    const ours = await began(dir, async () => {
      await createClaudeRunner().run(
        {
          marker: `bench/${round}`,
          argv: [program],
          cwd: dir,
          prompt: "Go.",
          env: { PATH: process.env["PATH"] ?? "" },
          limits: { totalMs: 30_000, outputBytes: 1024 * 1024, graceMs: 1000 },
          outputPath: join(dir, "output.log"),
          agent: {
            options: { permission: "edit", mcpServers: {}, teams: false },
            scratch: dir,
            folders: [],
            repositorySettings: false,
          },
        },
        { signal: new AbortController().signal },
      );
    });
    if (round > 0) took.push(ours - bare);
  }
  return {
    name: "start of an agent, beyond its own",
    value: median(took),
    unit: "ms",
    limit: { is: "at most", value: 30 },
    note: "against a bare spawn, in turns",
  };
}

/** From the call until the program's first act, in milliseconds. */
async function began(dir: string, start: () => Promise<unknown>): Promise<number> {
  const at = performance.timeOrigin + performance.now();
  await start();
  const [last = "0"] = readFileSync(join(dir, "began"), "utf8").trim().split("\n").slice(-1);
  return Number(BigInt(last) / 1000n) / 1000 - at;
}

/** Everything that an event passes through: secrets out, lines, reader, log. */
function measureEvents(dir: string): Row {
  const redaction = createRedaction([{ name: "API_KEY", value: "kQ8rTn3wPz6yLm1v" }]);
  const redactor = createStreamRedactor(redaction);
  const reader = createClaudeReader(undefined);
  const log = openEventLog(join(dir, "events.jsonl"));
  let seen = 0;
  const lines = splitLines((line) => {
    for (const event of reader.read(line)) {
      log.add("2026-01-01T00:00:00.000Z", event);
      seen += 1;
    }
  });
  const text = "A sentence of an agent about what it found in the file, as long as they usually are. ".repeat(4);
  const stream = Array.from({ length: EVENTS }, (_, at) => {
    const message = { id: `message-${at >> 4}`, role: "assistant", content: [{ type: "text", text }] };
    return Buffer.from(
      `${JSON.stringify({ type: "assistant", message, session_id: "s", parent_tool_use_id: null })}\n`,
    );
  });
  const since = performance.now();
  for (const line of stream) lines.push(redactor.push(line));
  lines.end();
  const perEvent = (performance.now() - since) / Math.max(1, seen);
  log.close();
  return {
    name: "each streamed event",
    value: seen < EVENTS ? undefined : perEvent,
    unit: "ms",
    limit: { is: "at most", value: 0.2 },
    note: `${seen} events: secrets, lines, reader, log`,
  };
}
