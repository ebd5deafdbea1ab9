// Runs one short program and returns its output. The first few calls start it directly. A process that makes more of them starts a small
// helper process (launch-helper.ts) and lets it start the rest: to start a program the kernel copies the page tables of the starting
// process while its event loop waits, which takes 2 ms in a process of 50 MB and 10 ms in one of 260 MB.

import { type ChildProcess, fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { type LaunchEnd, type LaunchOrder, launchHere } from "./launch-here.ts";

/** The helper costs about as much as this many starts. */
const DIRECT_CALLS = 12;
/** One attempt makes about as many. */
const FIRST_CALLS = 2;
const HELPER = fileURLToPath(new URL(`./launch-helper${extname(import.meta.url)}`, import.meta.url));

let calls = 0;
let helper: Helper | undefined;

export function launch(order: LaunchOrder): Promise<LaunchEnd> {
  calls += 1;
  if (calls > DIRECT_CALLS && (helper === undefined || helper.state === "killed")) helper = startHelper();
  return helper?.state === "ready" ? helper.launch(order) : launchHere(order);
}

/** While nobody waits for a program: a process that has made some calls will probably make more, and somebody waits for those. */
export function prepareLaunch(): void {
  if (calls >= FIRST_CALLS) helper ??= startHelper();
}

/** Message of the helper: it is ready, or a program has ended. */
export type HelperMessage = "ready" | { readonly id: number; readonly end: LaunchEnd };

type Helper = {
  /** A helper that ended before it was ready is unfit and gets no successor: the installation may be replaced while this process runs. */
  state: "starting" | "ready" | "killed" | "unfit";
  readonly launch: (order: LaunchOrder) => Promise<LaunchEnd>;
};

function startHelper(): Helper {
  const waiting = new Map<number, (end: LaunchEnd) => void>();
  // It needs no variable of ours, and so it has no secret: each order brings the environment of its program.
  const child = fork(HELPER, {
    cwd: "/",
    env: {},
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  let last = 0;
  const started: Helper = {
    state: "starting",
    launch(order) {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        hold(child, true);
        child.send({ id, order }, (error) => {
          if (error !== null && waiting.delete(id)) resolve(launchHere(order));
        });
      });
    },
  };
  hold(child, false);
  child.on("message", (message: HelperMessage) => {
    if (message === "ready") {
      started.state = "ready";
      return;
    }
    waiting.get(message.id)?.(message.end);
    waiting.delete(message.id);
    hold(child, waiting.size > 0);
  });
  const gone = (): void => {
    if (started.state === "starting") started.state = "unfit";
    if (started.state === "ready") started.state = "killed";
    // Nobody knows how far these came: the caller decides as after a program that was killed.
    for (const answer of waiting.values()) answer(KILLED);
    waiting.clear();
  };
  child.on("error", gone).on("disconnect", gone).on("exit", gone);
  return started;
}

/** The helper keeps this process alive only while a program runs. */
function hold(child: ChildProcess, isNeeded: boolean): void {
  if (isNeeded) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

const KILLED: LaunchEnd = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  failure: { code: null, isTimeout: false, message: "the process that ran it was killed" },
};
