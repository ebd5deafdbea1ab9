// One attempt as a conversation over the protocol: hello, a session (new or resumed), the model, the prompt, its answer. It ends with the
// answer or with a failure, and never throws.

import { setTimeout as delay } from "node:timers/promises";
import { client, type ClientContext, methods, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import type { AgentSpec, AttemptHooks, Failure, LiveMessages } from "../runner.ts";
import type { AcpConversation } from "./conversation.ts";
import { failureOf, troubleOfRpcError } from "./failure.ts";
import { type Fields, fields, list, text } from "../loose-json.ts";
import { DESK, mcpServersOf } from "./mcp-servers.ts";
import { answerPermission } from "./permission.ts";
import type { AcpProfile } from "./profile.ts";
import type { Wire } from "./wire.ts";

export type AcpTalk = {
  readonly cwd: string;
  readonly prompt: string;
  readonly agent: AgentSpec;
  readonly profile: AcpProfile;
  readonly conversation: AcpConversation;
  readonly messages: LiveMessages | undefined;
  /** Called when incoming messages belong to this attempt; before that the program replays an old conversation. */
  readonly listen: () => void;
  /** Time of the last incoming message, in milliseconds of `performance.now()`. */
  readonly heardAt: () => number;
  readonly permit?: AttemptHooks["permit"];
  /** The program's answer to our hello. */
  readonly greeted: (hello: Fields) => void;
};

export async function converse(wire: Wire, talk: AcpTalk): Promise<void> {
  const { options } = talk.agent;
  const rules = { permission: options.permission, denyTools: options.denyTools ?? [], ownServers: [DESK] };
  const app = client({ name: "passrail" }).onRequest(
    methods.client.session.requestPermission,
    // Parsed here: otherwise a request that the library cannot parse would be an error to the agent, not an answer.
    (params) => params,
    async ({ params }: { params: unknown }) => {
      const call = fields(params)["toolCall"];
      talk.conversation.sawTool(call);
      const answer = await answerPermission(params, rules, talk.permit);
      if (!answer.allowed) talk.conversation.refused(answer.line, call);
      return { outcome: answer.outcome };
    },
  );
  try {
    await app.connectWith(wire.stream, (agent) => hold(agent, talk));
  } catch (error) {
    // The connection closed because the program exited; its end has the reason.
    if (!(error instanceof Trouble)) return;
    talk.conversation.failed(error.failure);
  }
}

/** Required silence after loading a session: some programs replay the old conversation after their answer. */
const QUIET_MS = 300;
const QUIET_AT_MOST_MS = 10_000;

async function hold(agent: ClientContext, talk: AcpTalk): Promise<void> {
  const { conversation } = talk;
  const hello = await ask(agent, talk, methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "passrail", version: "1" },
  });
  talk.greeted(hello);
  const { id, answer } = await openSession(agent, talk, fields(hello["agentCapabilities"]));
  const model = await chooseModel(agent, talk, id, answer);
  conversation.opened({ id, model });
  await chooseEffort(agent, talk, id, answer);
  talk.listen();
  await say(agent, talk, id, talk.prompt);
  // A second prompt would end the first one in some programs: what people say is the next turn.
  for (let next = talk.messages?.take(); next !== undefined; next = talk.messages?.take()) {
    conversation.nextTurn();
    const turn = say(agent, talk, id, next.text);
    talk.messages?.heard(next, "turn");
    await turn;
  }
}

async function say(agent: ClientContext, talk: AcpTalk, sessionId: string, words: string): Promise<void> {
  const prompt = [{ type: "text", text: words }];
  talk.conversation.answered(await ask(agent, talk, methods.agent.session.prompt, { sessionId, prompt }));
}

async function openSession(
  agent: ClientContext,
  talk: AcpTalk,
  capabilities: Fields,
): Promise<{ readonly id: string; readonly answer: Fields }> {
  const { session } = talk.agent;
  const place = { cwd: talk.cwd, mcpServers: mcpServersOf(talk.agent) };
  if (session === undefined) {
    const answer = await ask(agent, talk, methods.agent.session.new, place);
    const id = text(answer["sessionId"]);
    if (id === null) throw new Trouble(crashed(talk, "it gave its session no id"));
    return { id, answer };
  }
  const resumes = fields(capabilities["sessionCapabilities"])["resume"];
  const mayResume = resumes !== undefined && resumes !== null && resumes !== false;
  if (!mayResume && capabilities["loadSession"] !== true) {
    throw new Trouble(lost(talk, "it cannot resume a session"));
  }
  const method = mayResume ? methods.agent.session.resume : methods.agent.session.load;
  try {
    const answer = await ask(agent, talk, method, { sessionId: session.id, ...place });
    if (!mayResume) await untilQuiet(talk);
    return { id: session.id, answer };
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    // Programs have no common error for a missing session; every error without a clearer meaning counts as one.
    const { kind, message } = error.failure;
    throw kind === "agent_crashed" || kind === "request_refused" ? new Trouble(lost(talk, message)) : error;
  }
}

async function untilQuiet(talk: AcpTalk): Promise<void> {
  const since = performance.now();
  for (;;) {
    const quiet = performance.now() - Math.max(talk.heardAt(), since);
    if (quiet >= QUIET_MS || performance.now() - since > QUIET_AT_MOST_MS) return;
    await delay(QUIET_MS - quiet);
  }
}

/** Sets the requested model, and returns the model in use. */
async function chooseModel(
  agent: ClientContext,
  talk: AcpTalk,
  sessionId: string,
  answer: Fields,
): Promise<string | null> {
  const wanted = talk.agent.options.model;
  const option = optionOf(answer, "model");
  const models = fields(answer["models"]);
  const current = text(models["currentModelId"]) ?? text(option?.["currentValue"]);
  if (wanted === undefined || talk.profile.tellsModel === true || wanted === current) {
    return talk.profile.tellsModel === true ? (wanted ?? current) : current;
  }
  const known = list(models["availableModels"]).map((each) => text(fields(each)["modelId"]));
  const offered = [...valuesOf(option), ...known.filter((each) => each !== null)];
  if (valuesOf(option).includes(wanted)) {
    const configId = text(option?.["id"]) ?? "model";
    await ask(agent, talk, methods.agent.session.setConfigOption, { sessionId, configId, value: wanted });
    return wanted;
  }
  if (known.includes(wanted)) {
    await ask(agent, talk, "session/set_model", { sessionId, modelId: wanted });
    return wanted;
  }
  if (offered.length > 0) {
    const some = [...new Set(offered)].slice(0, 12).join(", ");
    const message = `${talk.profile.title} does not offer the model "${wanted.slice(0, 200)}". It offers: ${some.slice(0, 1_000)}.`;
    throw new Trouble({ kind: "request_refused", message });
  }
  talk.conversation.warn(`${talk.profile.title} does not accept a model over the protocol; it uses its own.`);
  return current;
}

async function chooseEffort(agent: ClientContext, talk: AcpTalk, sessionId: string, answer: Fields): Promise<void> {
  const { effort } = talk.agent.options;
  const option = optionOf(answer, "thought_level");
  const configId = text(option?.["id"]);
  if (effort === undefined || configId === null || !valuesOf(option).includes(effort)) return;
  await ask(agent, talk, methods.agent.session.setConfigOption, { sessionId, configId, value: effort });
}

function optionOf(answer: Fields, category: string): Fields | undefined {
  return list(answer["configOptions"])
    .map(fields)
    .find((option) => option["category"] === category);
}

/** Values of a choice; they may be grouped. */
function valuesOf(option: Fields | undefined): string[] {
  return list(option?.["options"])
    .map(fields)
    .flatMap((each) => [each, ...list(each["options"]).map(fields)])
    .map((each) => text(each["value"]))
    .filter((value) => value !== null);
}

/** A failure on its way out of the conversation. */
class Trouble extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

async function ask(agent: ClientContext, talk: AcpTalk, method: string, params: Fields): Promise<Fields> {
  try {
    return fields(await agent.request<unknown, Fields>(method, params));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new Trouble(failureOf(talk.profile, troubleOfRpcError(error)));
  }
}

function lost({ profile }: AcpTalk, why: string): Failure {
  return { kind: "session_lost", message: `${profile.title} could not resume the session: ${why.slice(0, 600)}` };
}

function crashed({ profile }: AcpTalk, why: string): Failure {
  return { kind: "agent_crashed", message: `${profile.title}: ${why}.` };
}
