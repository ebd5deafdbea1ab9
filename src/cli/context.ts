// The program gives this to every command that registers itself: a way to run, and the version of Passrail.

import type { Io } from "./terminal/io.ts";

export type CommandContext = {
  /** Builds the command's `Io`, runs the command and keeps the exit code that it returns. */
  readonly call: (command: (io: Io) => Promise<number>) => Promise<void>;
  readonly version: string;
};
