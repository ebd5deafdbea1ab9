// Reads the repeatable option `--input name=value`.

import type { Json } from "../core/json.ts";
import { readPair } from "../app/start-run/inputs.ts";
import { EXIT, problemError } from "./errors.ts";

export function readPairs(pairs: readonly string[]): readonly (readonly [name: string, value: Json])[] {
  return pairs.map((pair) => {
    const read = readPair(pair);
    if (!read.ok) throw problemError(read.error, EXIT.usage);
    return read.value;
  });
}
