// The names of the runners.

/** Programs that Passrail can drive; `command` is any other program, `acp` any agent that speaks the Agent Client Protocol. */
export const PROGRAMS = ["claude", "codex", "gemini", "opencode", "acp", "command"] as const;

/** The ways to play an agent. `outside` is no program: an outside worker requests the work over the API and reports the result. */
export const RUNNERS = [...PROGRAMS, "outside"] as const;

/** Those that a ladder may name: each has a program of its own and needs no further command. */
export const LADDER_RUNNERS = ["claude", "codex", "gemini", "opencode"] as const;

export const EFFORTS = ["minimal", "low", "medium", "high", "max"] as const;

export const TEAM_RUNNERS: readonly (typeof RUNNERS)[number][] = ["claude"];

/** The parts of the user's own set-up of a program that its agents may have, for the programs that a ladder may name. */
export const USER_FEATURES = ["skills", "hooks", "mcp"] as const;
export type UserFeature = (typeof USER_FEATURES)[number];
