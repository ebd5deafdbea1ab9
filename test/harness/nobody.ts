// Runners for an engine whose stages the test itself carries out: asking one of them to play fails.

import type { Runners } from "../../src/runner/runners.ts";

export const nobody: Runners = {
  runnerFor: () => {
    throw new Error("no program is started here");
  },
  checkRunner: () => {
    throw new Error("no check is started here");
  },
  desk: { open: () => Promise.reject(new Error("no desk here")), close: () => Promise.resolve() },
  enclosure: "markers",
  gateway: { mode: "off", egress: null, private: [], tape: "off" },
  redact: (text) => text,
  redactor: () => ({ push: (chunk) => chunk, flush: () => new Uint8Array() }),
};
