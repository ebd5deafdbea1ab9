// The runner for opencode: over the Agent Client Protocol, or through its own lines of JSON.

import { err, ok, type Result } from "../../core/result.ts";
import { UNKNOWN_USAGE } from "../../core/budget/usage.ts";
import { agentOf, createAcpRunner, promptOf, refused } from "../acp/runner.ts";
import { count, fields } from "../loose-json.ts";
import type { AcpProfile } from "../acp/profile.ts";
import { findProgram } from "../process/find-program.ts";
import { notStarted } from "../process/process.ts";
import type { AgentSpec, AttemptSpec, Failure, Runner } from "../runner.ts";
import { runStream } from "../process/stream.ts";
import { environmentOf } from "./config.ts";
import { leftOpencode, OPENCODE } from "./program.ts";
import { uncontrolledSettings } from "./repository.ts";
import { createOpencodeReader } from "./stream.ts";

export const createOpencodeRunner = ({ transport = "acp" }: { readonly transport?: "acp" | "native" } = {}): Runner =>
  transport === "acp" ? createAcpRunner(PROFILE) : NATIVE;

const PROFILE: AcpProfile = {
  ...OPENCODE,
  name: "opencode",
  tellsModel: true,
  prepare: async (spec, agent) => {
    const env = await enter(spec, agent, false);
    return env.ok ? ok({ ...spec, argv: [...spec.argv, "acp"], env: env.value }) : env;
  },
  // It reports the tokens of the last step only. With tools there were more steps; then the number would be wrong, not merely small.
  tokens: (answer, toolCalls) => {
    if (toolCalls > 0) return UNKNOWN_USAGE;
    const usage = fields(answer["usage"]);
    const [input, cached] = [count(usage["inputTokens"]), count(usage["cachedReadTokens"])];
    return {
      usd: null,
      inputTokens: input === null ? null : input + (cached ?? 0) + (count(usage["cachedWriteTokens"]) ?? 0),
      outputTokens: count(usage["outputTokens"]),
      cachedTokens: cached,
    };
  },
  left: leftOpencode,
};

const NATIVE: Runner = {
  name: "opencode",
  run: async (asked, hooks) => {
    const agent = agentOf(asked);
    const prepared = await prepareNative(asked, agent);
    if (!prepared.ok) return refused(prepared.error);
    const spec = prepared.value;
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    return runStream(program.value, spec, hooks, createOpencodeReader(agent.options.model ?? null));
  },
};

/** Values follow an equals sign, so that none can be taken for an option. The model is in the configuration. */
async function prepareNative(asked: AttemptSpec, agent: AgentSpec): Promise<Result<AttemptSpec, Failure>> {
  const env = await enter(asked, agent, true);
  if (!env.ok) return env;
  const { effort, permission } = agent.options;
  const argv: [string, ...string[]] = [
    ...asked.argv,
    "run",
    "--format=json",
    // It sleeps through a vendor's limit without a word; only its log says that a request failed.
    "--print-logs",
    "--log-level=ERROR",
    // Otherwise opencode refuses every call that the rules do not decide.
    ...(permission === "edit" || permission === "full" ? ["--auto"] : []),
    ...(effort === undefined ? [] : [`--variant=${effort}`]),
    ...(agent.session === undefined ? [] : [`--session=${agent.session.id}`]),
  ];
  return ok({ ...asked, argv, env: env.value, prompt: promptOf(asked, agent) });
}

/** The environment of the attempt, unless the repository has settings that cannot be switched off. */
async function enter(
  spec: AttemptSpec,
  agent: AgentSpec,
  withServers: boolean,
): Promise<Result<Readonly<Record<string, string>>, Failure>> {
  const files = agent.repositorySettings ? [] : await uncontrolledSettings(spec.cwd);
  if (files.length === 0) return environmentOf(spec, agent, withServers);
  const named = files.slice(0, 10).join(", ");
  const message = `opencode would execute these files of the repository, and they cannot be switched off: ${named.slice(0, 500)}. Remove that, or allow it with "repository_settings: on".`;
  return err({ kind: "request_refused", message });
}
