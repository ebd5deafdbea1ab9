// Writes the events of a conversation, one line of JSON each, for people who follow it. Bounded; a full disk ends the log and nothing else.

import { closeSync, constants, openSync, writeSync } from "node:fs";
import type { AgentEvent } from "../runner/runner.ts";

export type EventLog = { readonly add: (at: string, event: AgentEvent) => void; readonly close: () => void };

const LOG_BYTES = 20 * 1024 * 1024;

export function openEventLog(path: string): EventLog {
  let fd: number | undefined;
  let left = LOG_BYTES;
  const end = (): void => {
    left = 0;
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  return {
    add: (at, event) => {
      if (left <= 0) return;
      try {
        // Exclusively: the record is new, so a file in this place is not ours.
        const { O_CREAT, O_EXCL, O_WRONLY, O_APPEND, O_NOFOLLOW } = constants;
        fd ??= openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_NOFOLLOW, 0o600);
        const line = `${JSON.stringify({ at, ...event })}\n`;
        left -= line.length;
        writeSync(fd, line);
      } catch {
        end();
      }
    },
    close: end,
  };
}
