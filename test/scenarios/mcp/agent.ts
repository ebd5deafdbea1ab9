// A person's own agent, as far as MCP is concerned: starts the real program and speaks JSON-RPC with it, line by line.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PROGRAM } from "../../harness/program.ts";
import { until } from "../../harness/until.ts";
import { optional } from "../../../src/core/optional.ts";

export type Message = { readonly id?: unknown; readonly result?: Record<string, unknown>; readonly error?: object };

export type Agent = {
  readonly child: ChildProcess;
  /** Every line that came, as it came. */
  readonly lines: readonly string[];
  /** What was said beside the protocol. */
  stderr(): string;
  send(line: string): void;
  /** The answer to a request. */
  ask(method: string, params?: object, id?: number): Promise<Message>;
  /** What a tool answered, read as JSON. */
  use(name: string, args?: object): Promise<ToolAnswer>;
  /** Ends the input; the exit code. */
  leave(): Promise<number | null>;
};

export type ToolAnswer = { readonly isError: boolean; readonly text: string; readonly value: Record<string, unknown> };

export function startAgent(flags: readonly string[], env: Readonly<Record<string, string>>): Agent {
  const child = spawn(process.execPath, [PROGRAM, ...flags], {
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", NODE_NO_WARNINGS: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const answers = new Map<unknown, Message>();
  let said = "";
  let ids = 1000;
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    const message = JSON.parse(line) as Message;
    answers.set(message.id, message);
  });
  const send = (line: string) => void child.stdin.write(`${line}\n`);
  const agent: Agent = {
    child,
    lines,
    stderr: () => said,
    send,
    async ask(method, params, given) {
      ids += 1;
      const id = given ?? ids;
      send(JSON.stringify({ jsonrpc: "2.0", id, method, ...optional({ params }) }));
      return until(`an answer to ${method}`, () => {
        if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}: ${said}`);
        return answers.get(id);
      });
    },
    use: async (name, args = {}) => toAnswer(await agent.ask("tools/call", { name, arguments: args })),
    async leave() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
      return child.exitCode;
    },
  };
  return agent;
}

export function toAnswer({ result, error }: Message): ToolAnswer {
  if (result === undefined) throw new Error(JSON.stringify(error));
  const { content, isError } = result as { content: { text: string }[]; isError: boolean };
  const text = content[0]?.text ?? "";
  return { isError, text, value: JSON.parse(text) as Record<string, unknown> };
}
