// All commands, in the order of the help. Each registers its name, arguments and options; its implementation is loaded when it runs.

import type { Command } from "commander";
import type { CommandContext } from "./context.ts";

type Add = (program: Command, context: CommandContext) => void;
type Registration = { readonly names: readonly string[]; readonly load: () => Promise<Add> };

const REGISTRATIONS: readonly Registration[] = [
  { names: ["run", "start-detached"], load: async () => (await import("./commands/run/add-run.ts")).addRun },
  {
    names: ["build-plan"],
    load: async () => (await import("./commands/build-plan/add-build-plan.ts")).addBuildPlan,
  },
  { names: ["projects"], load: async () => (await import("./commands/projects/add-projects.ts")).addProjects },
  { names: ["config", "settings"], load: async () => (await import("./commands/config/add-config.ts")).addConfig },
  { names: ["queue"], load: async () => (await import("./commands/queue/add-queue.ts")).addQueue },
  { names: ["logs"], load: async () => (await import("./commands/logs/add-logs.ts")).addLogs },
  { names: ["spec"], load: async () => (await import("./commands/spec/add-spec.ts")).addSpec },
  { names: ["work"], load: async () => (await import("./commands/work/add-work.ts")).addWork },
  { names: ["explain"], load: async () => (await import("./commands/explain/add-explain.ts")).addExplain },
  { names: ["ticket"], load: async () => (await import("./commands/ticket/add-ticket.ts")).addTicket },
  { names: ["runs"], load: async () => (await import("./commands/runs/add-runs.ts")).addRuns },
  {
    names: ["inbox", "gate", "ask", "escalation", "budget"],
    load: async () => (await import("./commands/answer/add-answer.ts")).addAnswer,
  },
  { names: ["report"], load: async () => (await import("./commands/report/add-report.ts")).addReport },
  { names: ["cost"], load: async () => (await import("./commands/cost/add-cost.ts")).addCost },
  { names: ["agent"], load: async () => (await import("./commands/agent/add-agent.ts")).addAgent },
  { names: ["flow"], load: async () => (await import("./commands/flow/add-flow.ts")).addFlow },
  {
    names: ["up", "start", "down", "stop", "status", "open", "key", "service"],
    load: async () => (await import("./commands/daemon/add-daemon.ts")).addDaemon,
  },
  { names: ["webhook"], load: async () => (await import("./commands/webhook/add-webhook.ts")).addWebhook },
  { names: ["trigger"], load: async () => (await import("./commands/trigger/add-trigger.ts")).addTrigger },
  {
    names: ["merge", "discard", "done", "merge-queue", "undo"],
    load: async () => (await import("./commands/merge/add-merge.ts")).addMerge,
  },
  { names: ["import"], load: async () => (await import("./commands/import/add-import.ts")).addImport },
  { names: ["trust"], load: async () => (await import("./commands/trust/add-trust.ts")).addTrust },
  { names: ["workspace"], load: async () => (await import("./commands/workspace/add-workspace.ts")).addWorkspace },
  { names: ["mcp"], load: async () => (await import("./commands/mcp/add-mcp.ts")).addMcp },
  { names: ["demo"], load: async () => (await import("./commands/demo/add-demo.ts")).addDemo },
  { names: ["init"], load: async () => (await import("./commands/init/add-init.ts")).addInit },
  { names: ["doctor"], load: async () => (await import("./commands/doctor/add-doctor.ts")).addDoctor },
  { names: ["verify"], load: async () => (await import("./commands/verify/add-verify.ts")).addVerify },
  // These two look at all others, so a call of them registers everything.
  { names: [], load: async () => (await import("./commands/completion/add-completion.ts")).addCompletion },
  { names: [], load: async () => (await import("./commands/help/add-help.ts")).addHelp },
];

/** Every word that may follow `passrail`. */
export const COMMAND_NAMES: readonly string[] = [...REGISTRATIONS.flatMap(({ names }) => names), "completion", "help"];

/** A call that begins with a command registers only that one; help, suggestions and leading options need them all. */
export async function addCommands(program: Command, context: CommandContext, args: readonly string[]): Promise<void> {
  const [first = ""] = args;
  const named = REGISTRATIONS.filter(({ names }) => names.includes(first));
  for (const { load } of named.length > 0 ? named : REGISTRATIONS) (await load())(program, context);
}
