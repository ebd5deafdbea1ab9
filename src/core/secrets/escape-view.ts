// A text as its reader will see it: escapes of JSON and of URLs decoded, terminal codes removed. Each byte remembers where it came from, so
// that a secret which only the decoded text shows is removed from the original.

export type DecodedView = {
  readonly bytes: Uint8Array;
  /** Where byte `index` of the view begins and ends in the original. */
  readonly startOf: (index: number) => number;
  readonly endOf: (index: number) => number;
  /** The original up to here is in the view; after it an escape begins that is not complete. */
  readonly until: number;
};

/** Undefined if the view would be the text itself. `final`: nothing follows the text. */
export function viewOf(text: Uint8Array, final: boolean): DecodedView | undefined {
  // Most texts have no escape at all: look first, allocate later.
  let at = nextSign(text, 0);
  while (at < text.length && widthAt(text, at, final) === PLAIN) at = nextSign(text, at + 1);
  if (at === text.length) return undefined;
  const bytes = new Uint8Array(text.length);
  const starts = new Uint32Array(text.length);
  const widths = new Uint8Array(text.length);
  let length = 0;
  const add = (byte: number, start: number, width: number): void => {
    bytes[length] = byte;
    starts[length] = start;
    widths[length] = width;
    length += 1;
  };
  for (at = 0; at < text.length; ) {
    const width = widthAt(text, at, final);
    if (width === MORE) break;
    if (width === PLAIN) add(text[at] ?? 0, at, 1);
    else for (const byte of decoded(text, at, width)) add(byte, at, width);
    at += Math.max(width, 1);
  }
  return {
    bytes: bytes.subarray(0, length),
    startOf: (index) => (index < length ? (starts[index] ?? 0) : at),
    endOf: (index) => (starts[index] ?? 0) + (widths[index] ?? 0),
    until: at,
  };
}

/** The byte means itself. */
const PLAIN = 0;
/** The text ends within an escape. */
const MORE = -1;

const ESC = 0x1b;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
/** A terminal code that is longer is none. */
const LONGEST_CODE = 200;

/** 1 for the bytes with which an escape may begin. Controls steer a terminal and are removed with its codes; a tab or a line end is text. */
const SIGNS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isControl = (byte < 0x20 && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d) || byte === 0x7f;
  return isControl || byte === BACKSLASH || byte === PERCENT ? 1 : 0;
});

/** The first such byte from `from` on. Kept small: every byte of output passes here. */
function nextSign(text: Uint8Array, from: number): number {
  let at = from;
  while (at < text.length && SIGNS[text[at] ?? 0] === 0) at += 1;
  return at;
}

/** The length of the escape at this place, or PLAIN or MORE. */
function widthAt(text: Uint8Array, at: number, final: boolean): number {
  const byte = text[at] ?? 0;
  if (SIGNS[byte] === 0) return PLAIN;
  if (byte === BACKSLASH) return escapeWidth(text, at, final);
  if (byte === PERCENT) return digits(text, at + 1, 2, final, 3);
  return byte === ESC ? codeWidth(text, at, final) : 1;
}

function escapeWidth(text: Uint8Array, at: number, final: boolean): number {
  const next = text[at + 1];
  if (next === undefined) return final ? PLAIN : MORE;
  if (next === 0x75) return digits(text, at + 2, 4, final, 6);
  if (next === 0x78) return digits(text, at + 2, 2, final, 4);
  return next === BACKSLASH || next === 0x2f || next === 0x22 ? 2 : PLAIN;
}

function digits(text: Uint8Array, from: number, count: number, final: boolean, width: number): number {
  for (let at = from; at < from + count; at += 1) {
    if (at >= text.length) return final ? PLAIN : MORE;
    if (digitOf(text[at] ?? 0) < 0) return PLAIN;
  }
  return width;
}

/** A colour, a title, a link: `ESC [ … letter`, `ESC ] … BEL`, or two bytes. */
function codeWidth(text: Uint8Array, at: number, final: boolean): number {
  const kind = text[at + 1];
  if (kind === undefined) return final ? 1 : MORE;
  const isString = kind === 0x5d || kind === 0x50 || kind === 0x5f || kind === 0x5e || kind === 0x58;
  if (kind !== 0x5b && !isString) return kind === ESC ? 1 : 2;
  for (let here = at + 2; here < at + LONGEST_CODE; here += 1) {
    const byte = text[here];
    if (byte === undefined) return final ? here - at : MORE;
    if (isString) {
      if (byte === 0x07) return here - at + 1;
      if (byte === ESC || byte === 0x0a) return here - at;
    } else if (byte < 0x20 || byte >= 0x40) return byte >= 0x40 && byte < 0x7f ? here - at + 1 : here - at;
  }
  return 2;
}

function decoded(text: Uint8Array, at: number, width: number): readonly number[] {
  const first = text[at];
  if (first === PERCENT) return [numberAt(text, at + 1, 2)];
  if (first !== BACKSLASH) return [];
  if (width === 2) return [text[at + 1] ?? 0];
  const code = numberAt(text, at + 2, width - 2);
  if (code < 0x80) return [code];
  if (code < 0x800) return [0xc0 | (code >> 6), 0x80 | (code & 0x3f)];
  return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
}

function numberAt(text: Uint8Array, from: number, count: number): number {
  let number = 0;
  for (let at = from; at < from + count; at += 1) number = number * 16 + digitOf(text[at] ?? 0);
  return number;
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
