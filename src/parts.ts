// Everything that only acting needs, in one module: compose.ts loads it when something acts.

export { createCommitOf } from "./app/commit-of.ts";
export { planRun } from "./app/start-run/start-run.ts";
export { createUseCases } from "./app/use-cases.ts";
export { childEnvironment } from "./runner/process/environment.ts";
export { killLeftovers } from "./runner/process/kill-tree.ts";
export { findMarked } from "./runner/process/process-table.ts";
export { readYaml } from "./file/yaml.ts";
export { playOf } from "./core/flow/runner-choice.ts";
export { createMirror } from "./ticket/mirror/mirror.ts";
export { withProjectKeys } from "./settings/project-keys.ts";
export { storeMark } from "./attempt/attempt-files.ts";
export { builtins } from "./attempt/builtins.ts";
export { systemClock } from "./engine/clock.ts";
export { createEngine } from "./engine/engine.ts";
export { runStage } from "./attempt/run-stage.ts";
export { createStageLogs } from "./engine/stage-log.ts";
export { createWriteTickets } from "./ticket/intake/write-tickets.ts";
export { openLanding } from "./ticket/land/open.ts";
export { openNotifications } from "./notify/open.ts";
export { openPlayers } from "./runner/open.ts";
export { takeEngineLock } from "./store/sqlite/lock.ts";
export { openTicketFolder } from "./ticket/file/open-folder.ts";
export { createWorkspaces } from "./workspace/providers.ts";
