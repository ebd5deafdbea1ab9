// All commands, in the order of the help. Each registers its name, arguments and options; its implementation is loaded when it runs.

import type { Command } from "commander";
import { addAgent } from "./commands/agent/add-agent.ts";
import { addAnswer } from "./commands/answer/add-answer.ts";
import { addCost } from "./commands/cost/add-cost.ts";
import { addDaemon } from "./commands/daemon/add-daemon.ts";
import { addDemo } from "./commands/demo/add-demo.ts";
import { addExplain } from "./commands/explain/add-explain.ts";
import { addFlow } from "./commands/flow/add-flow.ts";
import { addHelp } from "./commands/help/add-help.ts";
import { addMcp } from "./commands/mcp/add-mcp.ts";
import { addMerge } from "./commands/merge/add-merge.ts";
import { addRun } from "./commands/run/add-run.ts";
import { addRuns } from "./commands/runs/add-runs.ts";
import { addSpec } from "./commands/spec/add-spec.ts";
import { addTicket } from "./commands/ticket/add-ticket.ts";
import { addTrigger } from "./commands/trigger/add-trigger.ts";
import { addVerify } from "./commands/verify/add-verify.ts";
import { addWebhook } from "./commands/webhook/add-webhook.ts";
import { addWork } from "./commands/work/add-work.ts";
import { addWorkspace } from "./commands/workspace/add-workspace.ts";
import type { CommandContext } from "./context.ts";

export function addCommands(program: Command, context: CommandContext): void {
  addRun(program, context);
  addSpec(program, context);
  addWork(program, context);
  addExplain(program, context);
  addTicket(program, context);
  addRuns(program, context);
  addAnswer(program, context);
  addCost(program, context);
  addAgent(program, context);
  addFlow(program, context);
  addDaemon(program, context);
  addWebhook(program, context);
  addTrigger(program, context);
  addMerge(program, context);
  addWorkspace(program, context);
  addMcp(program, context);
  addDemo(program, context);
  addVerify(program, context);
  addHelp(program);
}
