// Ctrl-C, TERM and HUP while a command works: the first signal asks for an orderly stop, the second ends the process at once.

import { constants } from "node:os";

export type Caught = { readonly signal: string; readonly exit: number };

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
let held = 0;

/** Whether work is in progress that must not end because the reader of the output has left. */
export function isHeld(): boolean {
  return held > 0;
}

/** `force` is called at the second signal; then the process ends. */
export function catchSignals(force: () => Promise<void>): {
  readonly caught: Promise<Caught>;
  readonly release: () => void;
} {
  let tell: (caught: Caught) => void = () => undefined;
  const caught = new Promise<Caught>((resolve) => (tell = resolve));
  let times = 0;
  const onSignal = (signal: (typeof SIGNALS)[number]): void => {
    times += 1;
    const exit = 128 + constants.signals[signal];
    if (times === 1) tell({ signal, exit });
    else void force().finally(() => process.exit(exit));
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  held += 1;
  return {
    caught,
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      held -= 1;
    },
  };
}
