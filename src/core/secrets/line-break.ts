// Line breaks inside of encoded text, also those that JSON has escaped.

import { MORE } from "./secret-shapes.ts";

const BREAKS: readonly string[] = ["\n", "\r\n", String.raw`\n`, String.raw`\r\n`, String.raw`\\n`, String.raw`\\r\\n`];

/** The width of a line break, also of one escaped in JSON; 0 if there is none. */
export function breakAt(bytes: Uint8Array, at: number, final: boolean): number {
  const first = bytes[at];
  if (first !== 0x0a && first !== 0x0d && first !== 0x5c) return 0;
  const seen = String.fromCharCode(...bytes.subarray(at, at + 6));
  for (const form of BREAKS) {
    if (seen.startsWith(form)) return form.length;
    if (!final && seen.length < form.length && form.startsWith(seen)) return MORE;
  }
  return 0;
}
