// The runner that the settings choose for an agent. A flow or the agent's own file takes precedence.

export const NOBODY = "none yet";

export type Played = { readonly by: string; readonly because: string };

type Shown = { readonly name: string; readonly value?: unknown };

export function playedBy(agent: string, settings: readonly Shown[]): Played {
  const valueOf = (name: string): unknown => settings.find((each) => each.name === name)?.value;
  const agents = recordOf(valueOf("agents"));
  for (const [name, because] of [
    [agent, `agents.${agent}`],
    ["*", "agents.*"],
  ] as const) {
    const by = programOf(recordOf(agents[name]));
    if (by !== undefined) return { by, because };
  }
  const runner = valueOf("runner");
  if (typeof runner === "string" && runner !== "none") return { by: runner, because: "runner" };
  return { by: NOBODY, because: "" };
}

function programOf({ runner, command }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof runner === "string") return runner;
  return Array.isArray(command) && typeof command[0] === "string" ? command.join(" ") : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
