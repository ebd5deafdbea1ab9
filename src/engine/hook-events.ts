// What happens in an agent's session as a hook: its name, one line for the log, and the facts for a program. The same in both modes; no
// hook can refuse anything.

import type { ObservedEvent } from "../attempt/job.ts";
import { projectOf } from "../core/run/run-settings.ts";
import type { HookName } from "../settings/hooks.ts";
import type { ObservedAttempt } from "./options.ts";

export type HookEvent = {
  readonly hook: HookName;
  /** `tool Bash: npm test`. */
  readonly line: string;
  readonly payload: Readonly<Record<string, string | number | null>>;
};

const ARGUMENT_CHARS = 120;

/** Undefined for events that are no hook. */
export function hookEvent(attempt: ObservedAttempt, event: ObservedEvent, at: string): HookEvent | undefined {
  const found = readHook(event);
  if (found === undefined) return undefined;
  const { run, stage, attempt: number, agent } = attempt;
  const place = { run: run.id, project: projectOf(run), stage, attempt: number, agent, at };
  return { hook: found.hook, line: found.line, payload: { event: found.hook, ...place, ...found.facts } };
}

type Read = Pick<HookEvent, "hook" | "line"> & { readonly facts: HookEvent["payload"] };

function readHook(event: ObservedEvent): Read | undefined {
  switch (event.type) {
    case "tool.called": {
      const argument = shortArgument(event.input);
      return { hook: "tool_use", line: `tool ${event.name}: ${argument}`, facts: { tool: event.name, argument } };
    }
    case "session.ended":
      return {
        hook: "session_end",
        line: `session ${event.id ?? "without an id"} ended (${event.reason})`,
        facts: { session: event.id, reason: event.reason },
      };
    case "teammate.idle":
      return {
        hook: "teammate_idle",
        line: `teammate ${event.name} is idle`,
        facts: { teammate: event.name, task: event.id },
      };
    case "task.completed":
      return {
        hook: "task_completed",
        line: `task of ${event.name} ${event.status}: ${event.text}`,
        facts: { teammate: event.name, task: event.id, status: event.status, summary: event.text },
      };
    case "limits":
    case "message":
    case "notice":
    case "session":
    case "task.started":
    case "thinking":
    case "tool.returned":
    case "unknown":
    case "usage":
      return undefined;
  }
}

/** The one thing of a tool's input that a person wants to know. */
function shortArgument(input: string): string {
  const given = asObject(input);
  const named = ["command", "file_path", "path", "pattern", "url", "query", "description"]
    .map((key) => given?.[key])
    .find((value) => typeof value === "string" && value !== "");
  const text = typeof named === "string" ? named : input;
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, ARGUMENT_CHARS);
}

function asObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
