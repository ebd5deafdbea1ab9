// Registers `agent list|test|resume`.

import { Argument, type Command } from "commander";
import type { RunnerName } from "../../../core/flow/agent-options.ts";
import type { CommandContext } from "../../context.ts";

const TESTED: readonly RunnerName[] = ["claude", "codex", "gemini", "opencode"];

export function addAgent(program: Command, { call }: CommandContext): void {
  const agent = program.command("agent").description("list and test agents and the programs that run them");
  agent
    .command("list")
    .description("which programs are installed and logged in, and which agent uses which")
    .action(() => call(async (io) => (await import("./agent.ts")).agentList(io)));
  agent
    .command("test")
    .description("run one tiny attempt end to end; costs one short answer")
    .addArgument(new Argument("<runner>", "the program to test").choices(TESTED))
    .action((runner: RunnerName) => call(async (io) => (await import("./agent.ts")).agentTest(io, runner)));
  agent
    .command("resume")
    .description("say that a program works again before its limit ends: runs that wait for it may start")
    .addArgument(new Argument("<runner>", "the program that was held"))
    .action((runner: string) => call(async (io) => (await import("./resume.ts")).agentResume(io, runner)));
}
