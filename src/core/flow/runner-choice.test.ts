// The runner of a stage when several sources name one.

import { expect, test } from "vitest";
import type { AgentDefinition, ResolvedFlow } from "./agent.ts";
import { agentOptionKeys } from "./agent-options.ts";
import { OPTIONS, resolveFlow, type WorkStage } from "./flow.ts";
import { flowFileSchema } from "./flow-file.ts";
import type { JsonObject } from "../json.ts";
import { runnerChoiceOf } from "./runner-choice.ts";

function playWith({ stage = {}, agent = {}, defaults = {}, facts = {} }: Sources) {
  const flow = resolveFlow(
    flowFileSchema.parse({
      flow: "small",
      version: 1,
      subject: "ticket",
      defaults,
      stages: [{ id: "work", agent: "Builder", ...stage }],
    }),
  );
  const builder = { name: "builder", description: "", skills: [], prompt: "Build.", ...agent };
  const resolved: ResolvedFlow = { flow, agents: { builder }, prompts: {}, hash: "" };
  return runnerChoiceOf(resolved, facts, flow.stages[0] as WorkStage);
}

type Sources = {
  readonly stage?: object;
  readonly agent?: Partial<AgentDefinition>;
  readonly defaults?: object;
  readonly facts?: JsonObject;
};

test("a flow can say every option that there is", () => {
  expect([...OPTIONS].sort()).toEqual(Object.keys(agentOptionKeys).sort());
});

test("nothing configured means nobody, not a guess", () => {
  expect(playWith({})).toBeUndefined();
});

test("the operator's word for the stage wins over the agent, all, the flow, the agent's file and the default", () => {
  const sources = {
    stage: { runner: "opencode" },
    agent: { options: { runner: "codex" as const } },
    facts: {
      config: { runner: "gemini" },
      runners: { work: { runner: "claude" }, builder: ["b"], "*": ["all"] },
    },
  };
  expect(playWith(sources)).toMatchObject({ runner: "claude", command: null });
  const { config } = sources.facts;
  expect(playWith({ ...sources, facts: { config, runners: { builder: ["b", "x"], "*": ["all"] } } })).toMatchObject({
    runner: "command",
    command: ["b", "x"],
  });
  expect(playWith({ ...sources, facts: { config, runners: { "*": ["all"] } } })?.command).toEqual(["all"]);
  expect(playWith({ ...sources, facts: { config } })?.runner).toBe("opencode");
  expect(playWith({ agent: sources.agent, facts: { config } })?.runner).toBe("codex");
  expect(playWith({ facts: { config } })?.runner).toBe("gemini");
});

test("an empty command means nobody on purpose, whatever comes after it", () => {
  expect(playWith({ facts: { runners: { work: [] }, config: { runner: "claude" } } })).toBeUndefined();
});

test("a command without a runner is not mixed with a runner that is farther away", () => {
  const play = playWith({ stage: { runner: "claude" }, facts: { runners: { "*": ["my-agent"] } } });
  expect(play).toMatchObject({ runner: "command", command: ["my-agent"] });
});

test("options are taken key by key, the nearest first", () => {
  const play = playWith({
    stage: { runner: "claude", effort: "low", permission: "read", max_cost: 2 },
    agent: { options: { tools: ["Read"], effort: "max", max_turns: 7 } },
    facts: { runners: { builder: { effort: "high" } } },
  });
  expect(play?.options).toMatchObject({
    effort: "high",
    permission: "read",
    maxCostUsd: 2,
    tools: ["Read"],
    maxTurns: 7,
    teams: false,
  });
});

test("defaults of the flow hold for stages that do not say it themselves", () => {
  const defaults = { runner: "codex", session: "resume", questions: "deny" };
  expect(playWith({ defaults })).toMatchObject({ runner: "codex", session: "resume", questions: "deny" });
  expect(playWith({ defaults, stage: { session: "fresh" } })).toMatchObject({ session: "fresh" });
});

test("alone an agent has 50 turns, a team 200, unless the flow says otherwise", () => {
  const claude = { runners: { "*": { runner: "claude" } } };
  expect(playWith({ facts: claude })?.options.maxTurns).toBe(50);
  expect(playWith({ facts: claude, stage: { teams: true } })?.options).toMatchObject({ maxTurns: 200, teams: true });
  expect(playWith({ facts: claude, stage: { turns: { alone: 3, team: 9 }, teams: true } })?.options.maxTurns).toBe(9);
  expect(playWith({ facts: claude, stage: { turns: 12 } })?.options.maxTurns).toBe(12);
});

test("a flow's name for a model of Claude is not given to another vendor; the operator's is, as it stands", () => {
  const codex = { runner: "codex" };
  expect(playWith({ stage: { model: "opus" }, facts: { runners: { "*": codex } } })?.options.model).toBeUndefined();
  expect(playWith({ stage: { model: "opus" }, facts: { runners: { "*": { runner: "claude" } } } })?.options.model).toBe(
    "opus",
  );
  const chosen = { runners: { "*": { ...codex, model: "opus" } } };
  expect(playWith({ stage: { model: "gpt-x" }, facts: chosen })?.options.model).toBe("opus");
  expect(playWith({ stage: { model: "gpt-x" }, facts: { runners: { "*": codex } } })?.options.model).toBe("gpt-x");
});

test("names of Claude's tools in an agent's file tell others only whether to look or to work; the operator's names are theirs", () => {
  const looking = { agent: { options: { tools: ["Read", "Grep"] } } };
  const working = { agent: { options: { tools: ["Read", "Bash"] } } };
  const by = (runner: string, more = {}) => ({ facts: { runners: { "*": { runner, ...more } } } });
  expect(playWith({ ...looking, ...by("claude") })?.options).toMatchObject({
    tools: ["Read", "Grep"],
    permission: "edit",
  });
  const gemini = playWith({ ...looking, ...by("gemini") })?.options;
  expect(gemini).toMatchObject({ permission: "read" });
  expect(gemini).not.toHaveProperty("tools");
  expect(playWith({ ...working, ...by("gemini") })?.options).toMatchObject({ permission: "edit" });
  expect(playWith({ ...looking, ...by("gemini", { permission: "full" }) })?.options.permission).toBe("full");
  expect(playWith({ ...looking, ...by("gemini", { tools: ["read_file"] }) })?.options.tools).toEqual(["read_file"]);
});

test("acp needs a program; a stored entry that makes no sense is left out", () => {
  expect(playWith({ facts: { runners: { "*": { runner: "acp" } } } })).toBeUndefined();
  expect(playWith({ facts: { runners: { "*": { runner: "acp", command: ["goose", "acp"] } } } })).toMatchObject({
    runner: "acp",
    command: ["goose", "acp"],
  });
  expect(playWith({ facts: { runners: { "*": { runner: "emacs" } } } })).toBeUndefined();
});

test("a word for all agents is none for a stage that the flow or the agent's file leaves to the outside; its own name is", () => {
  const facts = { runners: { "*": ["program"] } };
  expect(playWith({ stage: { runner: "outside" }, facts })?.runner).toBe("outside");
  expect(playWith({ agent: { options: { runner: "outside" } }, facts })?.runner).toBe("outside");
  expect(playWith({ stage: { runner: "outside" }, facts: { runners: { work: ["program"] } } })?.runner).toBe("command");
});

test("S07: a word for all agents does not replace the flow's own command; the name of its stage or agent does", () => {
  const stage = { command: ["npm", "test"], result: { from: "exit-code" } };
  expect(playWith({ stage, facts: { runners: { "*": { runner: "claude", model: "opus" } } } })).toMatchObject({
    runner: "command",
    command: ["npm", "test"],
  });
  expect(playWith({ stage, facts: { runners: { work: { runner: "claude" } } } })?.runner).toBe("claude");
  expect(playWith({ stage, facts: { runners: { builder: ["true"] } } })?.command).toEqual(["true"]);
  const acp = { runner: "acp", command: ["goose", "acp"] };
  expect(playWith({ stage: acp, facts: { runners: { "*": { runner: "claude" } } } })?.runner).toBe("claude");
});

test("a source that names another runner lends neither its model nor its names of tools; that it only looks stays", () => {
  const all = { runner: "claude", model: "own-proxy-model", tools: ["Read"], effort: "high" };
  const codex = playWith({ facts: { runners: { work: { runner: "codex" }, "*": all } } });
  expect(codex?.options).toMatchObject({ effort: "high", permission: "read" });
  expect(codex?.options).not.toHaveProperty("tools");
  expect(codex?.options).not.toHaveProperty("model");
  const working = { ...all, tools: ["Read", "Bash(npm test)"] };
  const gemini = playWith({ facts: { runners: { work: { runner: "gemini" }, "*": working } } });
  expect(gemini?.options).toMatchObject({ permission: "edit" });
  expect(gemini?.options).not.toHaveProperty("tools");
  const file = { options: { runner: "claude" as const }, model: "own-proxy-model" };
  expect(playWith({ agent: file, facts: { runners: { "*": { runner: "codex" } } } })?.options.model).toBeUndefined();
  const settings = { config: { runner: "claude", model: "own-proxy-model" } };
  expect(playWith({ facts: { ...settings, runners: { "*": { runner: "codex" } } } })?.options.model).toBeUndefined();
  expect(playWith({ facts: settings })?.options.model).toBe("own-proxy-model");
});

const FOUR = ["claude", "codex", "gemini", "opencode"] as const;
test.each(FOUR.flatMap((from) => FOUR.filter((to) => to !== from).map((to) => [from, to] as const)))(
  "what was written for %s, its model, transport and names of tools, never reaches %s",
  (from, to) => {
    const written = {
      runner: from,
      model: "its-own",
      transport: "acp",
      tools: ["its_tool"],
      deny_tools: ["its_other"],
    };
    for (const facts of [
      { runners: { work: { runner: to }, "*": written } },
      { runners: { "*": { runner: to } }, config: { runner: from, model: "its-own" } },
    ]) {
      const choice = playWith({ facts });
      expect(choice?.runner).toBe(to);
      expect(choice?.transport).toBeNull();
      expect(choice?.options).not.toHaveProperty("model");
      expect(choice?.options).not.toHaveProperty("tools");
    }
  },
);

test.each([
  ["claude-sonnet-4-5", "codex", undefined],
  ["claude-sonnet-4-5", "gemini", undefined],
  ["claude-sonnet-4-5", "claude", "claude-sonnet-4-5"],
  ["gpt-5.5-codex", "claude", undefined],
  ["gpt-5.5-codex", "codex", "gpt-5.5-codex"],
  ["o3", "gemini", undefined],
  ["gemini-2.5-pro", "claude", undefined],
  // Others serve models of every vendor, and a name of one's own belongs to none.
  ["anthropic/claude-sonnet-4-5", "opencode", "anthropic/claude-sonnet-4-5"],
  ["own-proxy-model", "codex", "own-proxy-model"],
])("the model %s of a source without a runner reaches %s as %s", (model, runner, expected) => {
  const facts = { runners: { work: { runner }, "*": { model } } };
  expect(playWith({ facts })?.options.model).toBe(expected);
  // Options of one source belong together.
  expect(playWith({ facts: { runners: { "*": { runner, model } } } })?.options.model).toBe(model);
});
