// Codex as a runner: `codex exec --json`, whose prompt goes to stdin, which must be closed for Codex to begin; or `codex app-server` where a
// person is to be asked before it acts.

import { findProgram } from "../process/find-program.ts";
import { notStarted } from "../process/process.ts";
import type { AgentSpec, AttemptSpec, Runner } from "../runner.ts";
import { writeScratch } from "../process/scratch-files.ts";
import { runStream } from "../process/stream.ts";
import { openCodexTalk } from "./app-server.ts";
import { asksPeople, planCodex } from "./arguments.ts";
import { readInstructions, readRepository } from "./repository.ts";
import { createCodexReader } from "./stream.ts";
import { userServerNames } from "./user-servers.ts";
import { optional } from "../../core/optional.ts";
import { ok, type Result } from "../../core/result.ts";

export const createCodexRunner = (): Runner => ({
  name: "codex",
  run: async (spec, hooks) => {
    const { agent } = spec;
    if (agent === undefined) throw new Error("The codex runner was given an attempt without `agent`.");
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    const without = await serversToLeave(program.value, spec, agent);
    if (!without.ok)
      return notStarted("spawn_failed", `Its MCP servers could not be left out (user_features): ${without.error}`);
    const facts = {
      ...readRepository(spec.cwd),
      instructions: readInstructions(spec.cwd),
      without: without.value,
    };
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
    if (!asksPeople(agent)) return runStream(program.value, started, hooks, reader);
    const { images = [], session, schema } = agent;
    const { permit, messages } = hooks;
    const talk = openCodexTalk({ cwd: spec.cwd, session, images, schema, permit, messages, reader });
    return runStream(program.value, started, hooks, talk.reader, talk.input);
  },
});

/** The user's own MCP servers where the user does not let agents have them. A sandbox with its own programs has none of them. */
async function serversToLeave(
  program: string,
  spec: AttemptSpec,
  { userFeatures, scratch }: AgentSpec,
): Promise<Result<readonly string[], string>> {
  if (userFeatures === undefined || userFeatures.includes("mcp") || spec.ownPrograms === true) return ok([]);
  return userServerNames(program, spec, scratch);
}
