// The shapes of keys in base64: a configuration file or a header often holds a key that way. The beginning of a shape has three forms there,
// by its place within a group of three bytes; what follows is decoded, and the shape's own reader decides.

import { MORE, NONE, type Shape } from "./secret-shapes.ts";
import { breakAt } from "./line-break.ts";

export function base64Shapes(shapes: readonly Shape[]): readonly Shape[] {
  return shapes.flatMap((shape) => OFFSETS.map((offset) => encodedShape(shape, offset)));
}

/** Bytes before the shape in its first group, and the characters that hold nothing else. */
const OFFSETS = [
  { bytes: 0, lead: 0 },
  { bytes: 1, lead: 2 },
  { bytes: 2, lead: 3 },
] as const;

/** Whole groups before the first one, for readers that look behind. */
const GROUPS_BEFORE = 8;
const BYTES_BEFORE = 3 * GROUPS_BEFORE + 2;
/** Decoded at first; most candidates are decided by then. */
const FIRST_BYTES = 32;
const MOST_BYTES = 16 * 1024;

function encodedShape({ kind, prefix, measure }: Shape, { bytes, lead }: (typeof OFFSETS)[number]): Shape {
  const whole = btoa("\0".repeat(bytes) + prefix);
  const literal = whole.slice(lead, Math.floor(((bytes + prefix.length) * 8) / 6));
  return {
    kind,
    prefix: literal,
    measure: (text, at, final) => {
      const begin = groupsBefore(text, at - lead);
      if (begin === undefined || begin > at - lead) return NONE;
      const before = ((at - lead - begin) / 4) * 3 + bytes;
      for (let most = FIRST_BYTES; ; most *= 8) {
        const { found, isOver } = decode(text, begin, Math.min(most, MOST_BYTES) + before, final);
        if (isOver === MORE && found.length < before + prefix.length) return MORE;
        const isAll = isOver === true || most >= MOST_BYTES;
        const length = measure(found, before, isAll);
        if (length > 0) return (ends[before + length - 1] ?? at) - at;
        if (length === NONE) return NONE;
        if (isOver === MORE) return MORE;
        if (isAll) return NONE;
      }
    },
  };
}

/** Where the decoding begins: some groups before the first one, as far as there are any. Undefined without the characters before it. */
function groupsBefore(text: Uint8Array, first: number): number | undefined {
  if (first < 0) return undefined;
  for (let at = first; at < first + 3; at += 1) if (valueOf(text[at]) < 0) return undefined;
  let begin = first;
  for (let group = 0; group < GROUPS_BEFORE; group += 1) {
    for (let at = begin - 4; at < begin; at += 1) if (at < 0 || valueOf(text[at]) < 0) return begin;
    begin -= 4;
  }
  return begin;
}

type Decoded = {
  readonly found: Uint8Array;
  /** True: no more base64 follows. MORE: the text ends. */
  readonly isOver: boolean | typeof MORE;
};

/** Used again for every candidate: a text may have millions of them. */
const decoded = new Uint8Array(MOST_BYTES + BYTES_BEFORE);
/** The offset in the text after the last character of each byte. */
const ends = new Uint32Array(MOST_BYTES + BYTES_BEFORE);

function decode(text: Uint8Array, from: number, most: number, final: boolean): Decoded {
  let length = 0;
  let bits = 0;
  let buffer = 0;
  const done = (isOver: Decoded["isOver"]): Decoded => ({ found: decoded.subarray(0, length), isOver });
  for (let at = from; length < most; at += 1) {
    const first = text[at];
    if (first === 0x0a || first === 0x0d || first === 0x5c) {
      const width = breakAt(text, at, final);
      if (width === MORE) return done(MORE);
      at += width;
    }
    if (at >= text.length) return done(final ? true : MORE);
    const value = valueOf(text[at]);
    if (value < 0) return done(true);
    buffer = ((buffer << 6) | value) & 0xff_ffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    decoded[length] = (buffer >> bits) & 0xff;
    ends[length] = at + 1;
    length += 1;
  }
  return done(false);
}

const VALUES = new Int8Array(256).fill(-1);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
for (let value = 0; value < ALPHABET.length; value += 1) VALUES[ALPHABET.charCodeAt(value)] = value;
VALUES[0x2d] = 62;
VALUES[0x5f] = 63;

function valueOf(byte: number | undefined): number {
  return byte === undefined ? -1 : (VALUES[byte] ?? -1);
}
