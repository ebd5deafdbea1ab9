// Source 001's router: the list of stages as a JSON array of {agent, teams}, or as {"stages": [...]}, bare, fenced or between prose.
// A model wrote the list, so it is data: Passrail checks it against the known agents before use.

import { canonicalJson } from "../json.ts";
import { err, ok } from "../result.ts";
import { findJsonArrays, findJsonObjects } from "./json-scan.ts";
import { describeFault } from "./json-text.ts";
import { type Reading, type Signing, TEXT_CHARS, TOO_LONG, unreadable } from "./reading.ts";
import { isList, isObject, toStages } from "./report-fields.ts";

export function readRouteList(
  text: string,
  knownAgents: readonly string[],
  { nonce, required }: Pick<Signing, "nonce" | "required"> = { nonce: "", required: false },
): Reading {
  if (text.length > TEXT_CHARS) return err(TOO_LONG);
  const { found, broken } = findJsonArrays(text, "agent");
  const bare = found.flatMap(({ start, value }) => (isList(value) && !isFootnote(value) ? [{ start, value }] : []));
  const wrapped = findJsonObjects(text, "stages").found.flatMap(({ start, value }) =>
    isObject(value) && isList(value["stages"]) ? [{ start, value: value["stages"] }] : [],
  );
  const lists = [...bare, ...wrapped].toSorted((a, b) => a.start - b.start);
  const last = lists.at(-1);
  const fault = broken.at(-1);
  if (fault && fault.start > (last?.start ?? -1)) return unreadable(fault.fault.code, describeFault(text, fault.fault));
  if (!last)
    return unreadable("verdict_missing", "No JSON list of stages was found; an array of {agent, teams} is expected.");
  if (required && !text.includes(nonce))
    return unreadable("verdict_unsigned", "The answer does not carry this attempt's nonce as the prompt asks.");
  const only = canonicalJson(last.value);
  if (lists.some(({ value }) => canonicalJson(value) !== only)) {
    return unreadable("verdict_ambiguous", "The answer holds lists that differ. Give exactly one list of stages.");
  }

  const read = toStages(last.value);
  if ("wrong" in read) return unreadable("verdict_field_invalid", `The list of stages cannot be used: ${read.wrong}.`);
  const known = new Map(knownAgents.map((agent) => [agent.toLowerCase(), agent]));
  const unknown = read.value.find(({ agent }) => !known.has(agent.toLowerCase()));
  if (unknown) {
    const names = knownAgents.join(", ");
    return unreadable(
      "verdict_field_invalid",
      `Agent ${JSON.stringify(unknown.agent)} is unknown. Known agents: ${names}.`,
    );
  }
  return ok({
    stages: read.value.map(({ agent, teams }) => ({ agent: known.get(agent.toLowerCase()) ?? agent, teams })),
  });
}

/** `[1]` in prose is a reference mark, not a list of stages. */
function isFootnote(items: readonly unknown[]): boolean {
  return items.length > 0 && items.every((item) => typeof item === "number");
}
