// The package's door for programs: the pure rule, simulation, the engine, and the one call that puts everything together.

export { loadCatalog } from "./catalog/catalog.ts";
export type { Catalog, CatalogFolders } from "./catalog/catalog.ts";
export { homeOf, openForReading, openPassrail, shippedDir } from "./compose.ts";
export type { OpenOptions, Passrail, Place } from "./compose.ts";
export type { Config } from "./config.ts";
export type { AgentDefinition, ResolvedFlow } from "./core/agent.ts";
export type { Command } from "./core/command.ts";
export type { Actor, EventType, RunEvent } from "./core/event.ts";
export { evolve } from "./core/evolve.ts";
export type { Flow, Stage } from "./core/flow.ts";
export type { Json, JsonObject } from "./core/json.ts";
export type { Health, Issue, Outcome, Report, Verdict } from "./core/outcome.ts";
export type { Problem, Result } from "./core/result.ts";
export { isEnded, openItems } from "./core/run.ts";
export type { InboxItem, Run, Subject, Track } from "./core/run.ts";
export type { Signal, SignalBody } from "./core/signal.ts";
export { simulate } from "./core/simulate.ts";
export type { ScriptedOutcome, Simulation } from "./core/simulate.ts";
export { branchName, explainTicket, planTickets } from "./core/tickets/plan.ts";
export type { PlanFacts, PlannedTicket, TicketPlan } from "./core/tickets/plan.ts";
export { isTerminal } from "./core/tickets/graph.ts";
export {
  inProgressStatus,
  isActionable,
  isIntervention,
  isTerminalStage,
  isTicketStatus,
  nextStatus,
  stagePromptMap,
  TICKET_STATUSES,
} from "./core/tickets/status.ts";
export type { ActionableStatus, BacklogEntry, TicketStatus } from "./core/tickets/status.ts";
export type { Ticket, TicketProblem, TicketScan } from "./core/tickets/ticket.ts";
export { transition } from "./core/transition.ts";
export type { Step } from "./core/transition.ts";
export { createEngine } from "./engine/engine.ts";
export type { Delivery, Engine, EngineOptions, RunRequest } from "./engine/engine.ts";
export type { Store } from "./store/store.ts";
export type { TicketChanges, TicketFolder } from "./tickets/folder.ts";
export { openTicketFolder } from "./tickets/open-folder.ts";
