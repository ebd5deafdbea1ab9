// Everything that only acting needs, in one module: compose.ts loads it when something acts.

export { childEnvironment, runnerEnvironment, secretsOf } from "./agents/environment.ts";
export { killLeftovers } from "./agents/kill-tree.ts";
export { findMarked } from "./agents/process-table.ts";
export { createStreamRedactor } from "./agents/redactor.ts";
export { readYaml } from "./catalog/yaml.ts";
export { playOf } from "./core/play.ts";
export { createRedaction } from "./core/redaction.ts";
export { storeMark } from "./engine/attempt-files.ts";
export { systemClock } from "./engine/clock.ts";
export { createEngine } from "./engine/engine.ts";
export { runStage } from "./engine/run-stage.ts";
export { createDesk } from "./mcp/server.ts";
export { createCommandNotifier } from "./notify/command.ts";
export { createPlayers } from "./players.ts";
export { takeEngineLock } from "./store/sqlite/lock.ts";
export { createDirectoryWorkspaces } from "./workspace/directory.ts";
export { createWorktreeWorkspaces } from "./workspace/worktree.ts";
