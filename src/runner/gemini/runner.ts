// The runner for Gemini CLI: over the Agent Client Protocol, or through its own lines of JSON.
//
// Two things work only without the protocol (measured with 0.61.0): resuming a session (its session/load replays the old conversation after
// its answer, and loses sessions), and keeping the repository's settings off. Attempts that need one of these use the native output
// whatever was chosen.

import { ok, type Result } from "../../core/result.ts";
import { createAcpRunner, agentOf, promptOf, refused } from "../acp/runner.ts";
import { cleanerOf } from "../acp/clean.ts";
import { count, fields } from "../loose-json.ts";
import type { AcpProfile } from "../acp/profile.ts";
import { findProgram } from "../process/find-program.ts";
import { notStarted } from "../process/process.ts";
import type { AgentSpec, AttemptEnd, AttemptHooks, AttemptSpec, Failure, Runner } from "../runner.ts";
import { runStream } from "../process/stream.ts";
import { layOutHome } from "./home.ts";
import { writePolicy } from "./policy.ts";
import { GEMINI, leftGemini } from "./program.ts";
import { trust, uncontrolledSettings } from "./repository.ts";
import { createGeminiReader } from "./stream.ts";

export const createGeminiRunner = ({ transport = "acp" }: { readonly transport?: "acp" | "native" } = {}): Runner => ({
  name: "gemini",
  run: async (spec, hooks) => {
    const agent = agentOf(spec);
    if (transport === "native" || agent.session !== undefined) return runNative(spec, hooks, agent);
    const kept = agent.repositorySettings ? [] : await uncontrolledSettings(spec.cwd);
    if (kept.length === 0) return createAcpRunner(PROFILE).run(spec, hooks);
    const text = `The repository brings ${kept.join(", ")}. Gemini CLI can keep that off only without ACP, so it runs natively. With "repository_settings: on" it would be let in.`;
    hooks.onEvent?.({ type: "notice", kind: "warning", text });
    return runNative(spec, hooks, agent);
  },
});

const PROFILE: AcpProfile = {
  ...GEMINI,
  name: "gemini",
  tellsModel: true,
  prepare: async (spec, agent) => {
    const started = await start(spec, agent, ["--acp"], APPROVAL_ASKED);
    // Its own settings are enough, unless the user has chosen among them. The protocol brings the servers.
    if (agent.userFeatures === undefined) return ok(started);
    const { tools: _desk, ...rest } = agent;
    const home = await layOutHome(spec, rest);
    return home.ok ? ok({ ...started, env: { ...started.env, GEMINI_CLI_HOME: home.value } }) : home;
  },
  tokens: (answer) => {
    const tokens = fields(fields(fields(answer["_meta"])["quota"])["token_count"]);
    const [inputTokens, outputTokens] = [count(tokens["input_tokens"]), count(tokens["output_tokens"])];
    return { usd: null, inputTokens, outputTokens, cachedTokens: null };
  },
  left: leftGemini,
};

type Permission = AgentSpec["options"]["permission"];

/** The approval mode over the protocol: which calls the program asks us about. */
const APPROVAL_ASKED: Readonly<Record<Permission, string>> = {
  read: "default",
  edit: "default",
  ask: "auto_edit",
  full: "yolo",
};

/** The approval mode without a person to ask: the model does not get the tools that would need an answer. */
const APPROVAL_ALONE: Readonly<Record<Permission, string>> = {
  read: "default",
  edit: "yolo",
  ask: "auto_edit",
  full: "yolo",
};

async function runNative(asked: AttemptSpec, hooks: AttemptHooks, agent: AgentSpec): Promise<AttemptEnd> {
  const prepared = await prepareNative(asked, agent);
  if (!prepared.ok) return refused(prepared.error);
  const spec = prepared.value;
  const program = findProgram(spec);
  if (!program.ok) return notStarted(program.error.reason, program.error.detail);
  if (agent.options.effort !== undefined) {
    const text = "Gemini CLI has nothing for effort; it works without.";
    hooks.onEvent?.({ type: "notice", kind: "warning", text });
  }
  return runStream(program.value, spec, hooks, createGeminiReader(cleanerOf(spec)));
}

async function prepareNative(asked: AttemptSpec, agent: AgentSpec): Promise<Result<AttemptSpec, Failure>> {
  const home = await layOutHome(asked, agent);
  if (!home.ok) return home;
  const session = agent.session === undefined ? [] : [`--resume=${agent.session.id}`];
  // The prompt goes to stdin; the program needs some words here to begin at all.
  const args = ["--output-format=stream-json", ...session, "--prompt=Follow the instructions above."];
  const spec = await start(asked, agent, args, APPROVAL_ALONE);
  return ok({ ...spec, prompt: promptOf(asked, agent), env: { ...spec.env, GEMINI_CLI_HOME: home.value } });
}

/** The attempt with the options of both transports. Values follow an equals sign, so that none can be taken for an option. */
async function start(
  spec: AttemptSpec,
  agent: AgentSpec,
  args: readonly string[],
  approval: Readonly<Record<Permission, string>>,
): Promise<AttemptSpec> {
  const { model, permission } = agent.options;
  const trusted = trust(agent.repositorySettings);
  const policy = await writePolicy(agent);
  // The option takes several folders, separated by commas.
  const folders = [...agent.folders, ...(agent.reads ?? [])].filter((folder) => !folder.includes(","));
  return {
    ...spec,
    argv: [
      ...spec.argv,
      ...args,
      ...(model === undefined ? [] : [`--model=${model}`]),
      `--approval-mode=${approval[permission]}`,
      `--policy=${policy}`,
      ...folders.map((folder) => `--include-directories=${folder}`),
      ...trusted.args,
    ],
    // Otherwise it relaunches itself as a child, which outlives its parent.
    env: { ...spec.env, ...trusted.env, GEMINI_CLI_NO_RELAUNCH: "true" },
  };
}
