// The output while the demo runs: on a terminal a tree that is redrawn in place, elsewhere one line per change, or the events as JSON.

import type { RunEvent } from "../core/run/event.ts";
import type { Flow } from "../core/flow/flow.ts";
import type { Run } from "../core/run/run.ts";
import type { DemoIo } from "./io.ts";
import { lineFor } from "./lines.ts";
import { drawTree } from "./tree.ts";

export type DemoView = {
  begin(intro: readonly string[]): void;
  changed(run: Run, events: readonly RunEvent[]): void;
  /** One remark beside the picture. */
  say(text: string): void;
  /** Shows a question of this width below the picture and removes it afterwards. */
  whileAsking(width: number, question: () => Promise<string>): Promise<string>;
  end(): void;
};

const TICK_MS = 250;
const MIN_ROWS = 20;

export function createView(io: DemoIo, flow: Flow): DemoView {
  if (io.json) return jsonView(io);
  const isTall = (process.stdout.rows ?? 0) >= MIN_ROWS;
  return io.tty && io.columns > 0 && isTall ? treeView(io, flow) : lineView(io, flow);
}

function jsonView(io: DemoIo): DemoView {
  return {
    begin() {},
    changed: (run, events) => {
      for (const event of events) io.out(JSON.stringify({ runId: run.id, ...event }));
    },
    say: (text) => io.err(text),
    whileAsking: (_, question) => question(),
    end() {},
  };
}

function lineView(io: DemoIo, flow: Flow): DemoView {
  const startedAt = performance.now();
  const print = (text: string): void => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    io.out(`${seconds.padStart(5)}s  ${text}`);
  };
  return {
    begin: (intro) => {
      for (const line of [...intro, ""]) io.out(line);
    },
    changed: (run, events) => {
      for (const event of events) {
        const line = lineFor(event, run, flow, io);
        if (line !== undefined) print(line);
      }
    },
    say: print,
    whileAsking: (_, question) => question(),
    end() {},
  };
}

function treeView(io: DemoIo, flow: Flow): DemoView {
  const answers = new Map<string, string>();
  let run: Run | undefined;
  let latest = "";
  /** Lines that the next frame overwrites. */
  let height = 0;
  let isAsking = false;
  const draw = (): void => {
    if (run === undefined || isAsking) return;
    const frame = [...drawTree(run, flow, answers, io), "", latest];
    // Moves up to the start of the last frame, clears from there and writes the next one. A single write avoids flicker.
    io.out(`${height > 0 ? `\u001b[${height}A\u001b[0J` : ""}${frame.join("\n")}`);
    height = frame.length;
  };
  const timer = setInterval(draw, TICK_MS);
  timer.unref();
  return {
    begin: (intro) => {
      for (const line of [...intro, ""]) io.out(line);
    },
    changed: (changed, events) => {
      run = changed;
      for (const event of events) {
        if (event.type === "gate.answered") answers.set(event.stage, event.answer);
        latest = lineFor(event, changed, flow, io) ?? latest;
      }
      draw();
    },
    say: (text) => {
      latest = `  ${text}`;
      draw();
    },
    async whileAsking(width, question) {
      draw();
      isAsking = true;
      let typed = "";
      try {
        typed = await question();
        return typed;
      } finally {
        // The next frame overwrites the question's rows, the typed text and the line break.
        height += Math.floor((width + typed.length) / io.columns) + 1;
        isAsking = false;
      }
    },
    end: () => {
      clearInterval(timer);
      draw();
      run = undefined;
    },
  };
}
