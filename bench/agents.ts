// The overhead that Passrail adds to a coding agent per streamed event.

import { join } from "node:path";
import { createClaudeReader } from "../src/runner/claude/stream.ts";
import { createStreamRedactor } from "../src/runner/process/redactor.ts";
import { splitLines } from "../src/runner/process/stream.ts";
import { createRedaction } from "../src/core/secrets/redaction.ts";
import { openEventLog } from "../src/attempt/event-log.ts";
import { inFolder, type Row } from "./measure.ts";

const EVENTS = 20_000;

export async function measureAgents(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => [measureEvents(dir)]);
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
