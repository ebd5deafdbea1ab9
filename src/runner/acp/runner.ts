// The runner for agents that speak the Agent Client Protocol over stdin and stdout: any such program, and those with a profile.

import { dirname } from "node:path";
import { ok } from "../../core/result.ts";
import { findProgram } from "../process/find-program.ts";
import { notStarted, runProcess } from "../process/process.ts";
import type { AgentSpec, AttemptEnd, AttemptHooks, AttemptSpec, Failure, Runner } from "../runner.ts";
import { openConversation } from "./conversation.ts";
import { converse } from "./converse.ts";
import { type Fields, fields, text } from "../loose-json.ts";
import { cleanerOf } from "./clean.ts";
import { type AcpProfile, leftWithout, PLAIN, PLAIN_OPTIONS } from "./profile.ts";
import { openWire } from "./wire.ts";
import { optional } from "../../core/optional.ts";

export const createAcpRunner = (profile: AcpProfile = PLAIN): Runner => ({
  name: profile.name,
  run: async (asked, hooks) => {
    const agent = agentOf(asked);
    const prepared = profile.prepare === undefined ? ok(asked) : await profile.prepare(asked, agent);
    if (!prepared.ok) return refused(prepared.error);
    const spec = prepared.value;
    const program = findProgram(spec);
    if (!program.ok) return notStarted(program.error.reason, program.error.detail);
    return talk(program.value, spec, hooks, agent, profile);
  },
});

/** The end of an attempt that must not be started. */
export function refused(failure: Failure): AttemptEnd {
  return {
    ...notStarted("spawn_failed", failure.message),
    conversation: {
      session: null,
      model: null,
      version: null,
      usage: null,
      turns: null,
      toolCalls: 0,
      structured: null,
      denials: [],
      failure,
    },
  };
}

/** The agent options of an attempt, with defaults. */
export function agentOf(spec: AttemptSpec): AgentSpec {
  if (spec.agent !== undefined) return spec.agent;
  return { options: PLAIN_OPTIONS, scratch: dirname(spec.outputPath), folders: [], repositorySettings: false };
}

/** The prompt with the system text first: none of these programs has a separate place for it that keeps their own. */
export function promptOf(spec: AttemptSpec, { options, standing, session }: AgentSpec): string {
  const parts = [options.systemPrompt, session === undefined ? standing : undefined, spec.prompt];
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

async function talk(
  executable: string,
  spec: AttemptSpec,
  hooks: AttemptHooks,
  agent: AgentSpec,
  profile: AcpProfile,
): Promise<AttemptEnd> {
  let hello: Fields = {};
  let listening = false;
  let heardAt = 0;
  const conversation = openConversation({
    emit: (event) => hooks.onEvent?.(event),
    clean: cleanerOf(spec),
    before: agent.session ?? null,
    left: (end) => leftWithout(profile, end),
    title: profile.title,
    version: () => text(fields(hello["agentInfo"])["version"]),
    ...optional({ tokens: profile.tokens }),
  });
  const wire = openWire((message) => {
    heardAt = performance.now();
    if (!listening || message["method"] !== "session/update") return;
    conversation.update(fields(message["params"])["update"]);
  });
  let over = Promise.resolve();
  const end = await runProcess(executable, spec, hooks, {
    begin: (stdin, finish) => {
      wire.connect(stdin);
      over = converse(wire, {
        cwd: spec.cwd,
        prompt: promptOf(spec, agent),
        agent,
        profile,
        conversation,
        messages: hooks.messages,
        listen: () => {
          listening = true;
        },
        heardAt: () => heardAt,
        ...optional({ permit: hooks.permit }),
        greeted: (answer) => {
          hello = answer;
        },
      });
      // A program that has exited need not be ended.
      void over.then(finish);
    },
    onStdout: (chunk) => wire.push(chunk),
  });
  wire.close();
  await over;
  const { conversation: concluded, finalText } = conversation.conclude(end);
  return { ...end, stdoutTail: finalText, stdoutWhole: true, conversation: concluded };
}
