// The process that the landing table kills: it starts the rows that are named, and works until it is gone.

import { join } from "node:path";
import { openPerformer } from "../../harness/open-performer.ts";
import { optionsOf, ROWS, startRow } from "./landing-rows.ts";

const [dir = "", home = "", ...names] = process.argv.slice(2);
const passrail = await openPerformer({ ...optionsOf(dir, home), onError: (_runId, error) => console.error(error) });
for (const row of ROWS.filter(({ name }) => names.includes(name)))
  await startRow(passrail, dir, row, join(dir, row.name, "project"));
setInterval(() => undefined, 60_000);
