// One contestant in a process of its own: `child.ts NAME DIR DATABASE FOLDER`. The parent says how often how many runs are to be completed,
// and hears how long it took.

import { sample } from "../measure.ts";
import type { FromChild, ToChild } from "./contestant.ts";
import { loaderOf, type Load } from "./install.ts";
import { PASSRAIL, PEERS } from "./peers.ts";

const [name = "", dir = "", database = "", folder = ""] = process.argv.slice(2);
const entry = PEERS[name] ?? (name === "passrail" || name === "passrail-postgres" ? PASSRAIL[name] : undefined);
if (entry === undefined) throw new Error(`there is no ${name}`);
const missing: Load = (module) => Promise.reject(new Error(`${module} is not installed`));
const contestant = await entry.open({ dir, database, load: folder === "" ? missing : await loaderOf(folder) });

const tell = (said: FromChild): void => void process.send?.(said);
process.on("message", (asked: ToChild) => {
  if (asked.type === "close") {
    void contestant.close().finally(() => process.exit(0));
    return;
  }
  const { atOnce, times } = asked;
  const work = async (): Promise<void> => {
    for (let time = 0; time < times; time += 1) await contestant.complete(atOnce);
  };
  sample(work).then(
    (taken) => tell({ type: "done", ...taken }),
    (error: unknown) => tell({ type: "failed", why: error instanceof Error ? (error.stack ?? "") : String(error) }),
  );
});
tell({ type: "ready" });
