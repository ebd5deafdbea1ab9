// Claude Code as a runner: `claude -p` with its own output format. The prompt goes to stdin only, and so do messages of people.

import { randomUUID } from "node:crypto";
import { findProgram } from "../process/find-program.ts";
import { openLiveInput } from "../process/live-input.ts";
import { notStarted } from "../process/process.ts";
import type { Runner } from "../runner.ts";
import { writeScratch } from "../process/scratch-files.ts";
import { runStream } from "../process/stream.ts";
import { planClaude } from "./arguments.ts";
import { isClaudeItself, LIVE_ARGS, userLine } from "./live.ts";
import { unreadAgentsFile } from "./memory.ts";
import { userServers } from "./user-servers.ts";
import { createClaudeReader } from "./stream.ts";

export const createClaudeRunner = (): Runner => ({
  name: "claude",
  run: async (spec, hooks) => {
    const { agent } = spec;
    if (agent === undefined) throw new Error("The claude runner was given an attempt without `agent`.");
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    const agentsFile = agent.repositorySettings ? null : unreadAgentsFile(spec.cwd);
    const servers = agent.userFeatures?.includes("mcp") === true ? userServers(spec.env) : {};
    const plan = planClaude(spec, agent, { newSessionId: randomUUID(), agentsFile, servers });
    const written = writeScratch(agent.scratch, plan.files);
    if (!written.ok) return notStarted("spawn_failed", written.error);
    const { messages } = hooks;
    const input =
      messages !== undefined && isClaudeItself(program.value) ? openLiveInput(messages, userLine) : undefined;
    const args = input === undefined ? plan.args : [...plan.args, ...LIVE_ARGS];
    const started = { ...spec, argv: [...spec.argv, ...args] as const, env: plan.env };
    const reader = createClaudeReader(agent.session, (id, way) => input?.heard(id, way));
    return runStream(program.value, started, hooks, reader, input);
  },
});
