// The plainest runner: a user's program, prompt on stdin, output on stdout. Every test agent is one of these.

import { findProgram } from "./process/find-program.ts";
import { notStarted, runProcess } from "./process/process.ts";
import type { AttemptEnd, Runner } from "./runner.ts";
import { withWords } from "./sentence.ts";

export const createCommandRunner = (): Runner => ({
  name: "command",
  run: async (spec, hooks) => {
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    const end = await runProcess(program.value, spec, hooks);
    return { ...end, detail: withLastError(end) };
  },
});

/** A program that fails says why in its last line on stderr; the number of its exit code alone helps nobody. */
function withLastError({ reason, exitCode, detail, stderrTail }: AttemptEnd): string {
  const failed = (reason === "exited" && exitCode !== 0) || reason === "signaled";
  const last = failed ? stderrTail.trimEnd().split("\n").at(-1) : undefined;
  return last === undefined || last.trim() === "" ? detail : withWords(detail.replace(/\.$/u, ""), last);
}
