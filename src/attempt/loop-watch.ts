// Sees that an agent turns in a circle: the same tool call again and again, or two in turn. Calls that get the same answer each time end the
// attempt soon; where the answers differ the agent may be waiting for something, and gets three times as long.

import { createHash } from "node:crypto";
import type { AgentEvent } from "../runner/runner.ts";

/** Repetitions in a row, where the flow does not say otherwise. */
const SAME_CALLS = 12;
const PATIENCE = 3;
const SHOWN_CHARS = 200;

type Call = {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly key: string;
  answer: string;
};

export type LoopWatch = {
  /** The loop in words, once it is one. */
  note(event: AgentEvent): string | undefined;
};

export function watchLoops(sameCalls: number = SAME_CALLS): LoopWatch {
  const most = sameCalls * PATIENCE * 2;
  let calls: Call[] = [];
  return {
    note(event) {
      if (event.type === "tool.returned") {
        const call = calls.findLast(({ id }) => id === event.id);
        if (call !== undefined) call.answer = digest(event.output);
        return undefined;
      }
      if (event.type !== "tool.called") return undefined;
      const { id, name, input } = event;
      calls.push({
        id,
        name,
        input: input.slice(0, SHOWN_CHARS),
        key: digest(JSON.stringify([name, input])),
        answer: "",
      });
      if (calls.length > 2 * most) calls = calls.slice(-most);
      return loopIn(calls, 1, sameCalls) ?? loopIn(calls, 2, sameCalls);
    },
  };
}

/** Whether the last calls repeat with this period. The last one has no answer yet. */
function loopIn(calls: readonly Call[], period: 1 | 2, sameCalls: number): string | undefined {
  const same = suffix(calls, period, ({ key }) => key);
  const times = Math.floor(same / period);
  if (times < sameCalls) return undefined;
  const told = calls.slice(0, -1);
  const answered = Math.min(same, suffix(told, period, ({ key, answer }) => `${key} ${answer}`) + 1);
  const isStuck = Math.floor(answered / period) >= sameCalls;
  if (!isStuck && times < sameCalls * PATIENCE) return undefined;
  const [one, other] = calls.slice(-2);
  if (one === undefined || other === undefined) return undefined;
  const what = period === 1 ? shown(other) : `${shown(one)}, then ${shown(other)}`;
  return `it called the same ${period === 1 ? "tool" : "two tools"} with the same input ${times} times in a row: ${what}`;
}

/** How many of the last calls are like the one `period` before them, the first period included. */
function suffix(calls: readonly Call[], period: number, of: (call: Call) => string): number {
  let length = Math.min(period, calls.length);
  for (let at = calls.length - 1 - period; at >= 0; at--) {
    const [call, later] = [calls[at], calls[at + period]];
    if (call === undefined || later === undefined || of(call) !== of(later)) break;
    length += 1;
  }
  return length;
}

function shown({ name, input }: Call): string {
  return `${name} ${input}`.trim();
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
