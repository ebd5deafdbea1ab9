// How an agent is played: the runner, the model, the tools and the limits. A flow's stages, passrail.yaml and the front matter of an agent
// file have the same keys; the source nearer to the operator wins, key by key.

import { z } from "zod";
import { EFFORTS, LADDER_RUNNERS, type PROGRAMS, RUNNERS } from "./runner-names.ts";

export type ProgramName = (typeof PROGRAMS)[number];
export type RunnerName = (typeof RUNNERS)[number];

const mcpServer = z
  .union([
    z.strictObject({
      command: z.array(z.string().min(1)).min(1).describe("program and arguments"),
      env: z.record(z.string(), z.string()).describe("its environment").optional(),
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }).describe("a Streamable HTTP endpoint"),
      headers: z.record(z.string(), z.string()).describe("sent with every request").optional(),
    }),
  ])
  .describe("an MCP server that the agent may use");

const rung = z.union([
  z.enum(LADDER_RUNNERS),
  z.strictObject({
    runner: z.enum(LADDER_RUNNERS),
    model: z.string().min(1).max(100).describe("its model").optional(),
    effort: z.enum(EFFORTS).describe("how hard its model thinks").optional(),
  }),
]);

/** Keys as they are written; `model` and `command` are declared next to them for historical reasons. */
export const agentOptionKeys = {
  runner: z
    .union([z.enum(RUNNERS), z.array(rung).min(2).max(8)])
    .describe(
      "the program that plays the agent; outside: a worker that uses the API; a list is a ladder: an attempt that starts a new session takes the first program that is not over its limit, logged out or missing",
    )
    .optional(),
  transport: z
    .enum(["acp", "native"])
    .describe(
      "gemini and opencode: by their own output format (default), or over the Agent Client Protocol (default with permission ask)",
    )
    .optional(),
  effort: z.enum(EFFORTS).describe("how hard the model thinks, if the runner supports it").optional(),
  tools: z
    .array(z.string().min(1).max(200))
    .max(200)
    .describe("tools the agent may use (default: by permission)")
    .optional(),
  deny_tools: z.array(z.string().min(1).max(200)).max(200).describe("tools the agent may not use").optional(),
  permission: z
    .enum(["read", "edit", "full", "ask"])
    .describe(
      "read: look only; edit: change the workspace and run commands (default); full: no check by the agent's program at all; ask: as edit, but a person is asked before commands and before what is outside of the workspace",
    )
    .optional(),
  max_cost: z
    .number()
    .positive()
    .max(10_000)
    .describe("US dollars an attempt may cost, where the runner can tell")
    .optional(),
  system_prompt: z.string().min(1).max(50_000).describe("text before everything else that the model reads").optional(),
  mcp: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/), mcpServer)
    .describe("further MCP servers by name")
    .optional(),
  teams: z.boolean().describe("the agent may lead a team of agents (claude)").optional(),
  session: z
    .enum(["fresh", "clean", "resume"])
    .describe(
      "whether an attempt continues the session of the attempt before it: after an answer or an interruption only (fresh, default), never (clean), or in revisions too (resume)",
    )
    .optional(),
  questions: z
    .enum(["ask", "deny"])
    .describe("whether the agent may ask a person in the middle of its work (default ask)")
    .optional(),
};

export type LadderRunner = (typeof LADDER_RUNNERS)[number];
export type Effort = (typeof EFFORTS)[number];
export type McpServer = z.infer<typeof mcpServer>;
export type Permission = "read" | "edit" | "full" | "ask";

/** The options of one attempt, merged from all sources. Absent means the default of the agent's program. */
export type AgentOptions = {
  readonly model?: string;
  readonly effort?: Effort;
  readonly tools?: readonly string[];
  readonly denyTools?: readonly string[];
  readonly permission: Permission;
  readonly maxTurns?: number;
  /** Output tokens per model response. */
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly systemPrompt?: string;
  readonly mcpServers: Readonly<Record<string, McpServer>>;
  readonly teams: boolean;
};

/** The keys as a file has them; each may be missing. */
type Written = z.infer<z.ZodObject<typeof agentOptionKeys>> & {
  readonly model?: string;
  readonly command?: readonly string[];
  readonly max_turns?: number;
};
export type WrittenOptions = { readonly [K in keyof Written]?: Exclude<Written[K], undefined> };
