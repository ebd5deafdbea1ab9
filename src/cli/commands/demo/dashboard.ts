// The dashboard at the end of `demo`: a daemon on the demo's own home and a free port, until Ctrl-C. It starts two more runs, so that
// something in the inbox waits for the visitor.

import { openDaemon } from "../../../daemon/daemon.ts";
import type { DaemonOptions } from "../../../daemon/options.ts";
import type { DemoPlace } from "../../../demo/demo.ts";
import { startDemo } from "../../../demo/start.ts";
import { problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { openBrowser } from "../daemon/open.ts";

export async function showDashboard(io: Io, version: string, place: DemoPlace, stop: AbortSignal): Promise<void> {
  const options: DaemonOptions = {
    ...place,
    embedded: true,
    version,
    flags: {},
    port: 0,
    host: "127.0.0.1",
    hosts: [],
    log: { file: null, write: () => undefined },
  };
  const opened = await openDaemon(options);
  if (!opened.ok) throw problemError(opened.error);
  const daemon = opened.value;
  const { app, home, person, store } = daemon;
  try {
    await startDemo({ app, home, store, actor: person });
    const address = `${daemon.url}/#login=${daemon.newLoginCode()}`;
    io.out("");
    io.out("The dashboard, with this run and two more that begin now:");
    io.out(`  ${address}`);
    io.out("The address is good for one login within a minute. Ctrl-C ends the demo; nothing is left behind.");
    openBrowser(io, address);
    await stopped(stop);
  } finally {
    await daemon.close("interrupt");
  }
}

function stopped(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return Promise.resolve();
  // Keeps the process alive independently of the listener.
  const alive = setInterval(() => undefined, 60_000);
  return new Promise((resolve) => {
    stop.addEventListener(
      "abort",
      () => {
        clearInterval(alive);
        resolve();
      },
      { once: true },
    );
  });
}
