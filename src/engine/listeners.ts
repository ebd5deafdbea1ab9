// Passes the engine's changes on to its listeners. They may join late: until it performs, an engine reports only its own caller's signals.

import type { EngineOptions } from "./options.ts";

export type EngineListener = Pick<
  EngineOptions,
  "onAgentEvent" | "onUsage" | "onChange" | "onElsewhere" | "beforeWork" | "beforeOutward" | "afterOutward"
>;

export type EngineListeners = Required<EngineListener> & { add(listener: EngineListener): void };

/** Calls the listeners in the order in which they joined. */
export function createListeners(): EngineListeners {
  const listeners: EngineListener[] = [];
  return {
    add: (listener) => void listeners.push(listener),
    onChange: (run, events) => listeners.forEach((listener) => listener.onChange?.(run, events)),
    onElsewhere: (run) => listeners.forEach((listener) => listener.onElsewhere?.(run)),
    onAgentEvent: (attempt, event) => listeners.forEach((listener) => listener.onAgentEvent?.(attempt, event)),
    onUsage: (attempt, usage) => listeners.forEach((listener) => listener.onUsage?.(attempt, usage)),
    async beforeWork(run) {
      for (const listener of listeners) await listener.beforeWork?.(run);
    },
    async beforeOutward(run) {
      for (const listener of listeners) {
        const why = await listener.beforeOutward?.(run);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    async afterOutward(run) {
      for (const listener of listeners) await listener.afterOutward?.(run);
    },
  };
}
