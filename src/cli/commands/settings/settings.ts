// `settings`: every setting and limit of this project with its value in force and where it came from. Starts nothing and changes nothing.

import { didYouMean } from "../../../core/check/suggest.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { listFlowLimits, listSettings } from "../../../settings/list-settings.ts";
import { openCatalog } from "../flow/catalog.ts";
import { EXIT, usageError } from "../../errors.ts";
import { shownSettings } from "../../shown-settings.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson, printTable } from "../../terminal/output.ts";

export async function settings(io: Io, name: string | undefined): Promise<number> {
  const config = await shownSettings(io);
  const all = [...listSettings(config), ...listFlowLimits(flowsOf(io), config)];
  const shown = all.filter((each) => name === undefined || each.name === name || each.name.startsWith(`${name}.`));
  if (shown.length === 0) {
    const known = all.map((each) => each.name);
    throw usageError(
      "setting_unknown",
      `There is no setting ${JSON.stringify(name)}.`,
      didYouMean(name ?? "", known, "settings"),
    );
  }
  if (io.json) printJson(io, { settings: shown });
  else if (io.quiet) for (const each of shown) io.out(each.name);
  else
    printTable(
      io,
      shown.map(({ name: key, value, from }) => [
        { name: "name", value: key },
        { name: "value", value: typeof value === "string" ? value : JSON.stringify(value) },
        { name: "from", value: from },
      ]),
    );
  return EXIT.ok;
}

/** A flow that cannot be read is the business of `flow check`. */
function flowsOf(io: Io): readonly Flow[] {
  const catalog = openCatalog(io);
  return catalog.listFlows().flatMap(({ name }) => {
    const resolved = catalog.resolve(name);
    return resolved.ok ? [resolved.value.flow] : [];
  });
}
