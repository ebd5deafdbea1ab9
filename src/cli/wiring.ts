// All commands, in the order of the help. Each registers its name, arguments and options; its implementation is loaded when it runs. The
// registrations are small and go into one file of the built program.

import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { addAgent } from "./commands/agent/add-agent.ts";
import { addAnswer } from "./commands/answer/add-answer.ts";
import { addBuildPlan } from "./commands/build-plan/add-build-plan.ts";
import { addCompletion } from "./commands/completion/add-completion.ts";
import { addConfig } from "./commands/config/add-config.ts";
import { addCopies } from "./commands/database/add-copies.ts";
import { addCost } from "./commands/cost/add-cost.ts";
import { addDaemon } from "./commands/daemon/add-daemon.ts";
import { addDatabase } from "./commands/database/add-database.ts";
import { addDemo } from "./commands/demo/add-demo.ts";
import { addDocs } from "./commands/docs/add-docs.ts";
import { addDoctor } from "./commands/doctor/add-doctor.ts";
import { addExplain } from "./commands/explain/add-explain.ts";
import { addFlow } from "./commands/flow/add-flow.ts";
import { addHelp } from "./commands/help/add-help.ts";
import { addImport } from "./commands/import/add-import.ts";
import { addInit } from "./commands/init/add-init.ts";
import { addLogs } from "./commands/logs/add-logs.ts";
import { addMcp } from "./commands/mcp/add-mcp.ts";
import { addMerge } from "./commands/merge/add-merge.ts";
import { addPrune } from "./commands/prune/add-prune.ts";
import { addProjects } from "./commands/projects/add-projects.ts";
import { addQueue } from "./commands/queue/add-queue.ts";
import { addReport } from "./commands/report/add-report.ts";
import { addRun } from "./commands/run/add-run.ts";
import { addRuns } from "./commands/runs/add-runs.ts";
import { addSpec } from "./commands/spec/add-spec.ts";
import { addTicket } from "./commands/ticket/add-ticket.ts";
import { addTrigger } from "./commands/trigger/add-trigger.ts";
import { addTrust } from "./commands/trust/add-trust.ts";
import { addVerify } from "./commands/verify/add-verify.ts";
import { addWebhook } from "./commands/webhook/add-webhook.ts";
import { addWork } from "./commands/work/add-work.ts";
import { addWorker } from "./commands/worker/add-worker.ts";
import { addReplay } from "./commands/replay/add-replay.ts";
import { addSandbox } from "./commands/sandbox/add-sandbox.ts";
import { addWorkspace } from "./commands/workspace/add-workspace.ts";

type Add = (program: Command, context: CommandContext) => void;
type Registration = { readonly names: readonly string[]; readonly add: Add };

const REGISTRATIONS: readonly Registration[] = [
  { names: ["run", "start-detached"], add: addRun },
  {
    names: ["build-plan"],
    add: addBuildPlan,
  },
  { names: ["projects"], add: addProjects },
  { names: ["config", "settings"], add: addConfig },
  { names: ["queue"], add: addQueue },
  { names: ["logs"], add: addLogs },
  { names: ["spec"], add: addSpec },
  { names: ["work"], add: addWork },
  { names: ["explain"], add: addExplain },
  { names: ["ticket"], add: addTicket },
  { names: ["runs"], add: addRuns },
  {
    names: ["inbox", "gate", "ask", "escalation", "budget"],
    add: addAnswer,
  },
  { names: ["report"], add: addReport },
  { names: ["cost"], add: addCost },
  { names: ["agent"], add: addAgent },
  { names: ["flow"], add: addFlow },
  {
    names: ["up", "start", "down", "stop", "status", "open", "key", "service"],
    add: addDaemon,
  },
  { names: ["worker"], add: addWorker },
  { names: ["webhook"], add: addWebhook },
  { names: ["trigger"], add: addTrigger },
  {
    names: ["merge", "discard", "done", "merge-queue", "undo"],
    add: addMerge,
  },
  { names: ["import"], add: addImport },
  { names: ["trust"], add: addTrust },
  { names: ["workspace"], add: addWorkspace },
  { names: ["replay"], add: addReplay },
  { names: ["sandbox"], add: addSandbox },
  { names: ["prune"], add: addPrune },
  { names: ["mcp"], add: addMcp },
  { names: ["demo"], add: addDemo },
  { names: ["docs"], add: addDocs },
  { names: ["init"], add: addInit },
  { names: ["doctor"], add: addDoctor },
  { names: ["database"], add: addDatabase },
  { names: ["migrate", "backup", "restore"], add: addCopies },
  { names: ["verify"], add: addVerify },
  // These two look at all others, so a call of them registers everything.
  { names: [], add: addCompletion },
  { names: [], add: addHelp },
];

/** Every word that may follow `passrail`. */
export const COMMAND_NAMES: readonly string[] = [...REGISTRATIONS.flatMap(({ names }) => names), "completion", "help"];

/** A call that begins with a command registers only that one; help, suggestions and leading options need them all. */
export function addCommands(program: Command, context: CommandContext, args: readonly string[]): void {
  const [first = ""] = args;
  const named = REGISTRATIONS.filter(({ names }) => names.includes(first));
  for (const { add } of named.length > 0 ? named : REGISTRATIONS) add(program, context);
}
