// Measurements that need a fresh process: cold start of the command, recovery after a crash, and memory.

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../scripts/bundle.ts";
import { inFolder, median, type Row, ratio } from "./measure.ts";
import { featureFlow, openWorkload, unlimited } from "./workload.ts";

const ROOT = join(import.meta.dirname, "..");
const CLI = join(ROOT, "dist/cli/main.js");
const START_ROUNDS = 15;
const RECOVERY_ROUNDS = 5;
const PARKED = 1000;

export function measureProcesses(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const crashed = `${dir}/crashed`;
    await parkRuns(`${dir}/parked`, crashed);
    // As it is published: to read TypeScript takes 30 MB by itself. The shipped flows are found from there.
    const folder = join(ROOT, "node_modules", ".passrail-bench");
    await bundle(folder, { child: join("bench", "child.ts") });
    const program = join(folder, "child.js");
    const recoveries: number[] = [];
    for (let round = 0; round < RECOVERY_ROUNDS; round += 1) {
      const home = `${dir}/recovered-${round}`;
      copyStore(crashed, home);
      recoveries.push(child("recover", home));
    }
    return [
      {
        name: "recovery of 1,000 runs parked at a gate",
        value: median(recoveries),
        unit: "ms",
        limit: { is: "at most", value: 1000 },
        note: "after a crash, store opening included",
      },
      {
        name: "memory, 100 runs at once",
        value: child("memory", `${dir}/memory`, program),
        unit: "MB",
        limit: { is: "at most", value: 150 },
        note: "peak RSS of a fresh process, one batch, as built",
      },
      {
        name: "memory, ten seconds of 100 runs at once",
        value: child("busy", `${dir}/busy`, program),
        unit: "MB",
        limit: { is: "at most", value: 150 },
        note: "peak RSS of a fresh process, as built",
      },
      ...measureStart(`${dir}/recovered-0`),
    ];
  });
}

/** The files as a crash would leave them: copied while the engine still has them open. */
async function parkRuns(home: string, copy: string): Promise<void> {
  const workload = await openWorkload(home, { flow: unlimited(featureFlow()) });
  for (let runs = 0; runs < PARKED; runs += 100) await workload.park(100, "ship");
  await workload.engine.idle();
  copyStore(home, copy);
  await workload.close();
}

function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of ["passrail.db", "passrail.db-wal"]) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

function child(
  task: "recover" | "memory" | "busy",
  home: string,
  script: string = join(import.meta.dirname, "child.ts"),
): number {
  return Number(execFileSync(process.execPath, [script, task, home], { encoding: "utf8" }));
}

/** What people type most, and the most that each may take, in starts of bare node. */
const COMMANDS: readonly { readonly words: readonly string[]; readonly most?: number }[] = [
  { words: ["--version"], most: 1.5 },
  { words: ["--help"], most: 2 },
  { words: ["runs", "list"], most: 3 },
  { words: ["runs", "show", "1"], most: 3 },
  { words: ["inbox"], most: 3 },
];

/** `home` holds a thousand runs that wait at a gate. The first start of each command writes its compiled code and is not counted. */
function measureStart(home: string): readonly Row[] {
  if (builtCommand() === undefined)
    return [{ name: "passrail runs list", value: undefined, unit: "x", note: NOT_BUILT }];
  const bare: number[] = [];
  const taken = COMMANDS.map((): number[] => []);
  for (let round = 0; round <= START_ROUNDS; round += 1) {
    const none = startMs(["-e", "0"], home);
    const all = COMMANDS.map(({ words }) => startMs([CLI, ...words], home));
    if (round === 0) continue;
    bare.push(none);
    all.forEach((ms, at) => taken[at]?.push(ms));
  }
  return COMMANDS.map(({ words, most }, at): Row => {
    const times = taken[at] ?? [];
    return {
      name: `passrail ${words.join(" ")}, against bare node`,
      value: ratio(times, bare),
      unit: "x",
      ...(most === undefined ? {} : { limit: { is: "at most", value: most } }),
      note: `${Math.round(median(times))} and ${Math.round(median(bare))} ms`,
    };
  });
}

export const NOT_BUILT = "dist/cli/main.js could not be built";

/** The program as it is shipped; built first if missing. */
export function builtCommand(): string | undefined {
  if (!existsSync(CLI)) spawnSync(process.execPath, [join(ROOT, "scripts/build.ts")], { stdio: "ignore" });
  return existsSync(CLI) ? CLI : undefined;
}

function startMs(args: readonly string[], home: string): number {
  const since = performance.now();
  const ended = spawnSync(process.execPath, args, { env: { ...process.env, PASSRAIL_HOME: home }, encoding: "utf8" });
  const took = performance.now() - since;
  if (ended.status !== 0) throw new Error(`node ${args.join(" ")} ended with ${String(ended.status)}: ${ended.stderr}`);
  return took;
}
