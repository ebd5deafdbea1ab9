// What tracks save: the complex build plan with two developers that work for two seconds each, beside each other with two slots and one after
// the other with one. Each track has its worktree and its branch; the time is that from the fork to the join, checks of both tracks included.

import { APPROVED, hands } from "../test/harness/handoff-text.ts";
import { openWorkbench, type Script } from "../test/harness/workbench.ts";
import { median, ratio, type Row } from "./measure.ts";

const WORK_MS = 2000;
const ROUNDS = 3;

const dev = (file: string) => [hands({}, { write: { [file]: "work" }, sleepMs: WORK_MS })];
const SCRIPT: Script = {
  "be-dev": dev("api.txt"),
  "be-dod": [APPROVED],
  "be-review": [APPROVED],
  "fe-dev": dev("page.txt"),
  "fe-dod": [APPROVED],
  "fe-review": [APPROVED],
  test: [APPROVED],
  "update-specs": [hands()],
};

export async function measureTracks(): Promise<readonly Row[]> {
  const [together, serial]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    together.push(await tracksMs(2));
    serial.push(await tracksMs(1));
  }
  return [
    {
      name: "two tracks, against one after the other",
      value: ratio(together, serial),
      unit: "x",
      limit: { is: "at most", value: 0.6 },
      note: `${Math.round(median(together))} and ${Math.round(median(serial))} ms, each with ${WORK_MS} ms of work`,
    },
  ];
}

/** From the fork to the join. */
async function tracksMs(slots: number): Promise<number> {
  const bench = await openWorkbench({ slots });
  try {
    const run = await bench.run("build-plan-complex", SCRIPT);
    await bench.answer(run, "gate", "approve");
    const events = await bench.events(run.id);
    const at = (type: "tracks.forked" | "tracks.joined") =>
      Date.parse(events.find((event) => event.type === type)?.at ?? "");
    return at("tracks.joined") - at("tracks.forked");
  } finally {
    await bench.close();
  }
}
