// Everything that only acting needs, in one module: compose.ts loads it when something acts.

export { childEnvironment } from "./agents/environment.ts";
export { killLeftovers } from "./agents/kill-tree.ts";
export { findMarked } from "./agents/process-table.ts";
export { readYaml } from "./catalog/yaml.ts";
export { playOf } from "./core/play.ts";
export { createMirror } from "./dispatch/mirror.ts";
export { withProjectKeys } from "./dispatch/project-keys.ts";
export { storeMark } from "./engine/attempt-files.ts";
export { builtins } from "./engine/builtins.ts";
export { systemClock } from "./engine/clock.ts";
export { createEngine } from "./engine/engine.ts";
export { runStage } from "./engine/run-stage.ts";
export { createStageLogs } from "./engine/stage-log.ts";
export { createWriteTickets } from "./intake/write-tickets.ts";
export { openLanding } from "./landing/open.ts";
export { openNotifications } from "./webhooks/notifications.ts";
export { openPlayers } from "./players.ts";
export { takeEngineLock } from "./store/sqlite/lock.ts";
export { openTicketFolder } from "./tickets/open-folder.ts";
export { createWorkspaces } from "./workspace/providers.ts";
