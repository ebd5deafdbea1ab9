// `config list` and `config get`: settings and limits of this project with their value in force and where it came from. They change nothing.

import { didYouMean } from "../../../core/check/suggest.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { type Json, type JsonObject, lookUp } from "../../../core/json.ts";
import { listFlowLimits, type ListedSetting, listSettings } from "../../../settings/list-settings.ts";
import { openCatalog } from "../flow/catalog.ts";
import { EXIT, usageError } from "../../errors.ts";
import { shownSettings } from "../../shown-settings.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson, printTable } from "../../terminal/output.ts";

export async function configList(io: Io, name: string | undefined): Promise<number> {
  const all = await listAll(io);
  const shown = all.filter((each) => name === undefined || each.name === name || each.name.startsWith(`${name}.`));
  if (shown.length === 0) throw unknownSetting(all, name ?? "");
  if (io.json) printJson(io, { settings: shown });
  else if (io.quiet) for (const each of shown) io.out(each.name);
  else
    printTable(
      io,
      shown.map(({ name: key, value, from }) => [
        { name: "name", value: key },
        { name: "value", value: valueText(value) },
        { name: "from", value: from },
      ]),
    );
  return EXIT.ok;
}

export async function configGet(io: Io, name: string): Promise<number> {
  const found = requireSetting(await listAll(io), name);
  if (io.json) printJson(io, found);
  else io.out(valueText(found.value));
  return EXIT.ok;
}

export async function listAll(io: Io): Promise<readonly ListedSetting[]> {
  const config = await shownSettings(io);
  return [...listSettings(config), ...listFlowLimits(flowsOf(io), config)];
}

/** A listed setting, or a value inside one: `budgets.day.usd`. */
export function requireSetting(all: readonly ListedSetting[], name: string): ListedSetting {
  const exact = all.find((each) => each.name === name);
  if (exact !== undefined) return exact;
  const around = all
    .filter((each) => name.startsWith(`${each.name}.`))
    .sort((a, b) => b.name.length - a.name.length)[0];
  const inside = around === undefined ? undefined : valueInside(around, name);
  if (around === undefined || inside === undefined) throw unknownSetting(all, name);
  return { name, value: inside, from: around.from };
}

function valueInside({ name: group, value }: ListedSetting, name: string): Json | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return lookUp(value as JsonObject, name.slice(group.length + 1).split("."));
}

export function valueText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function unknownSetting(all: readonly ListedSetting[], name: string) {
  const known = all.map((each) => each.name);
  const group = known.some((each) => each.startsWith(`${name}.`)) ? `passrail config list ${name}\n` : "";
  return usageError(
    "setting_unknown",
    `There is no setting ${JSON.stringify(name)}.`,
    `${group}${didYouMean(name, known, "settings")}`,
  );
}

/** A flow that cannot be read is the business of `flow check`. */
function flowsOf(io: Io): readonly Flow[] {
  const catalog = openCatalog(io);
  return catalog.listFlows().flatMap(({ name }) => {
    const resolved = catalog.resolve(name);
    return resolved.ok ? [resolved.value.flow] : [];
  });
}
