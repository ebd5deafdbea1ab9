// The small process that starts programs for a large one (launch.ts). It lives as long as the channel to that process, and until the
// programs that it has started have ended: git is not cut off in the middle of a commit because the daemon was killed.

import type { HelperMessage } from "./launch.ts";
import { type LaunchOrder, launchHere } from "./launch-here.ts";

let running = 0;
let isAlone = false;

process.on("message", ({ id, order }: { readonly id: number; readonly order: LaunchOrder }) => {
  running += 1;
  void launchHere(order).then((end) => {
    running -= 1;
    tell({ id, end });
    leaveIfDone();
  });
});
process.on("disconnect", () => {
  isAlone = true;
  leaveIfDone();
});
// A signal to the whole group is for the large process, which still needs git to end well.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

tell("ready");

function tell(message: HelperMessage): void {
  if (process.connected) process.send?.(message, () => {});
}

function leaveIfDone(): void {
  if (isAlone && running === 0) process.exit(0);
}
