// The package's public exports: the pure transition, simulation, the engine, and `openPassrail`, which opens everything together.

export { loadCatalog } from "./catalog/catalog.ts";
export type { Catalog, CatalogFolders } from "./catalog/catalog.ts";
export { approveProject, lookAtTrust } from "./app/trust/trust.ts";
export type { TrustState } from "./app/trust/trust.ts";
export { openPassrail } from "./compose.ts";
export { openForReading } from "./store/open-store.ts";
export { homeOf, shippedDir } from "./settings/site.ts";
export type { PassrailOptions, Passrail } from "./compose.ts";
export type { Site } from "./settings/site.ts";
export type { Settings } from "./settings/settings.ts";
export type { AgentDefinition, ResolvedFlow } from "./core/flow/agent.ts";
export type { Command } from "./core/run/command.ts";
export type { Actor, EventType, RunEvent } from "./core/run/event.ts";
export { evolve } from "./core/run/evolve.ts";
export type { Flow, Stage } from "./core/flow/flow.ts";
export type { Json, JsonObject } from "./core/json.ts";
export type { Health, Issue, Outcome, Report, Verdict } from "./core/flow/outcome.ts";
export type { Problem, Result } from "./core/result.ts";
export { isEnded, openItems } from "./core/run/run.ts";
export type { InboxItem, Run, Subject, Track } from "./core/run/run.ts";
export type { Signal, SignalBody } from "./core/run/signal.ts";
export { simulate } from "./core/run/simulate.ts";
export type { ScriptedOutcome, Simulation } from "./core/run/simulate.ts";
export { branchName } from "./core/ticket/branches.ts";
export { explainTicket, planTickets } from "./core/ticket/plan.ts";
export type { PlanFacts, PlannedTicket, TicketPlan } from "./core/ticket/plan.ts";
export { isTerminal } from "./core/ticket/graph.ts";
export {
  inProgressStatus,
  isActionable,
  isIntervention,
  isTerminalStage,
  isTicketStatus,
  nextStatus,
  stagePromptMap,
  TICKET_STATUSES,
} from "./core/ticket/status.ts";
export type { ActionableStatus, BacklogEntry, TicketStatus } from "./core/ticket/status.ts";
export type { Ticket, TicketProblem, TicketScan } from "./core/ticket/ticket.ts";
export { transition } from "./core/run/transition.ts";
export type { Step } from "./core/run/transition.ts";
export { createEngine } from "./engine/engine.ts";
export type { Engine, RunRequest } from "./engine/engine.ts";
export type { EngineOptions } from "./engine/options.ts";
export type { Delivered } from "./engine/runs.ts";
export type { Store } from "./store/store.ts";
export type { TicketKeys as TicketChanges, TicketFolder } from "./ticket/file/folder.ts";
export { openTicketFolder } from "./ticket/file/open-folder.ts";
