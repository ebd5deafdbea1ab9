// The plainest runner: a user's program, prompt on stdin, output on stdout. Every test agent is one of these.

import { findProgram } from "./process/find-program.ts";
import { notStarted, runProcess } from "./process/process.ts";
import type { Runner } from "./runner.ts";

export const createCommandRunner = (): Runner => ({
  name: "command",
  run: async (spec, hooks) => {
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    return runProcess(program.value, spec, hooks);
  },
});
