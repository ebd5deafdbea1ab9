// The texts in which a secret value can appear: as it is, and as the usual encoders write it. Encryption, compression and spelling it
// letter by letter are out of scope: redaction prevents accidents, not attacks.

export type Form = {
  /** In UTF-8. */
  readonly bytes: Uint8Array;
  /** Programs break long base64 into lines; it may continue after a line break. */
  readonly wraps: boolean;
};

/** Shorter values would match innocent text. */
const SHORTEST_SECRET = 6;
/** A longer value is searched in pieces, so that the scan holds back little of a stream. */
const PIECE = 4096;
/** The minimum length at which one line of a longer value counts as a secret. */
const SHORTEST_LINE = 16;

/** Values of variables called TOKEN and PASSWORD that are still common words. */
const TRIVIAL: ReadonlySet<string> = new Set(
  [
    "undefined disabled enabled default always unknown example changeme password passwd secret secrets token apikey api-key api_key",
    "anonymous nobody public private bearer basic oauth oauth2 github gitlab google openai anthropic docker keyring keychain",
    "localhost postgres mysql redis admin administrator development production testing staging required optional 123456 1234567 12345678",
  ].flatMap((words) => words.split(" ")),
);

function isTrivial(value: string): boolean {
  const text = value.trim();
  if (text.length < SHORTEST_SECRET || TRIVIAL.has(text.toLowerCase())) return true;
  // One repeated character: xxxxxx, ******.
  return text === text.charAt(0).repeat(text.length);
}

/** Every form of the value, without duplicates; none if it is too short or too common to redact. */
export function formsOf(value: string): readonly Form[] {
  const whole = value.trim();
  if (isTrivial(whole)) return [];
  const forms = new Map<string, Form>();
  const add = (text: string, wraps: boolean): void => {
    if (text.length >= SHORTEST_SECRET && !forms.has(text)) forms.set(text, { bytes: utf8(text), wraps });
  };
  for (const part of [whole, ...linesOf(whole)]) {
    for (const piece of piecesOf(part)) {
      for (const text of writtenForms(piece)) add(text, false);
      const bytes = utf8(piece);
      for (const text of base64Forms(bytes)) add(text, true);
      add(hex(bytes), false);
      add(hex(bytes).toUpperCase(), false);
    }
  }
  return [...forms.values()];
}

/** Programs often print multi-line keys with indents or numbers, so each line is searched too. Lines with blanks in them are too common. */
function linesOf(value: string): readonly string[] {
  if (!value.includes("\n")) return [];
  const lines = value.split("\n").map((line) => line.trim());
  return lines.filter((line) => line.length >= SHORTEST_LINE && !/\s|^-----/u.test(line));
}

function piecesOf(value: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < value.length; at += PIECE) pieces.push(value.slice(at, at + PIECE));
  return pieces;
}

/** As text: plain, in JSON (also JSON inside JSON), in a URL or a form. */
function writtenForms(value: string): readonly string[] {
  const encoded = percentEncoded(value);
  const strict = encoded.replaceAll(/[!'()*]/gu, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
  const urls = [encoded, strict, strict.replaceAll("%20", "+")];
  const once = jsonForms(value);
  const twice = once.flatMap((text) => jsonForms(text));
  return [
    value,
    ...once,
    ...twice,
    ...urls,
    ...urls.map((text) => text.replaceAll(/%[0-9A-F]{2}/gu, (code) => code.toLowerCase())),
  ];
}

/** A lone half of a surrogate pair has no UTF-8; it becomes the replacement character, as in other programs. */
function percentEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/** Forms that encoders really write: the shortest, with escaped slashes, without non-ASCII letters, safe inside HTML. */
function jsonForms(value: string): readonly string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const slashes = plain.replaceAll("/", String.raw`\/`);
  const ascii = plain.replaceAll(NOT_ASCII, escaped);
  const html = plain.replaceAll(/[<>&\u2028\u2029]/gu, escaped);
  const strict = plain
    .replaceAll(String.raw`\"`, String.raw`\u0022`)
    .replaceAll(/[<>&'+`]/gu, escaped)
    .replaceAll(NOT_ASCII, escaped);
  return [plain, slashes, ascii, html, strict, strict.replaceAll(/\\u[0-9a-f]{4}/gu, upperDigits)];
}

const NOT_ASCII = /[\u{7f}-\u{10ffff}]/gu;

function escaped(characters: string): string {
  return Array.from({ length: characters.length }, (_, at) => {
    const code = characters.charCodeAt(at);
    return `\\u${code.toString(16).padStart(4, "0")}`;
  }).join("");
}

function upperDigits(code: string): string {
  return `\\u${code.slice(2).toUpperCase()}`;
}

/**
 * A value inside a longer text begins at one of three offsets within a base64 group. The form leaves out the characters at the edges, which
 * also carry bits of the neighbours.
 */
function base64Forms(bytes: Uint8Array): readonly string[] {
  const text = String.fromCharCode(...bytes);
  return [0, 1, 2].flatMap((offset) => {
    const whole = btoa("\0".repeat(offset) + text);
    const inner = whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
