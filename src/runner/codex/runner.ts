// Codex as a runner: `codex exec --json`. The prompt goes to stdin, which must be closed for Codex to begin.

import { findProgram } from "../process/find-program.ts";
import { notStarted } from "../process/process.ts";
import type { Runner } from "../runner.ts";
import { writeScratch } from "../process/scratch-files.ts";
import { runStream } from "../process/stream.ts";
import { planCodex } from "./arguments.ts";
import { readInstructions, readRepository } from "./repository.ts";
import { createCodexReader } from "./stream.ts";
import { optional } from "../../core/optional.ts";

export const createCodexRunner = (): Runner => ({
  name: "codex",
  run: async (spec, hooks) => {
    const { agent } = spec;
    if (agent === undefined) throw new Error("The codex runner was given an attempt without `agent`.");
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    const facts = { ...readRepository(spec.cwd), instructions: readInstructions(spec.cwd) };
    const plan = planCodex(spec, agent, facts);
    const written = writeScratch(agent.scratch, plan.files);
    if (!written.ok) return notStarted("spawn_failed", written.error);
    for (const text of plan.warnings) hooks.onEvent?.({ type: "notice", kind: "warning", text });
    const started = { ...spec, argv: [...spec.argv, ...plan.args] as const, env: plan.env, prompt: plan.prompt };
    const reader = createCodexReader({
      ...optional({ resumed: agent.session }),
      model: agent.options.model ?? null,
      structured: agent.schema !== undefined,
    });
    return runStream(program.value, started, hooks, reader);
  },
});
