// The shapes of well-known keys and tokens: where one begins and ends. Each reader reads UTF-8 bytes once, from left to right and within a
// bound, so no text can make it slow.

/** Not a secret here. */
export const NONE = 0;
/** Possibly a secret: the text ends too early to decide. */
export const MORE = -1;

/** No secret is longer than this. */
const LONGEST = 16 * 1024;
/** This many bytes before a secret may decide whether it is one. */
export const LOOK_BEHIND = 24;

export type Shape = {
  readonly kind: string;
  /** How it begins, at least three characters of ASCII. */
  readonly prefix: string;
  /** The length of the secret at `at`, the offset of the prefix, or NONE or MORE. `final`: nothing follows the text. */
  readonly measure: (text: Uint8Array, at: number, final: boolean) => number;
};

/** Kinds of characters, as bits: one table look-up decides whether a byte is of any of several kinds. */
const [UPPER, LOWER, DIGIT, HEX_LETTER, UNDERSCORE, DASH, DOT, PLUS, BLANK, QUOTE, URL_END, ESCAPED] = Array.from(
  { length: 12 },
  (_, bit) => 1 << bit,
) as [number, number, number, number, number, number, number, number, number, number, number, number];
const ALNUM = UPPER | LOWER | DIGIT;
const WORD = ALNUM | UNDERSCORE | DASH;
const BASE64 = ALNUM | PLUS;
const HEX = DIGIT | HEX_LETTER;

const KINDS = new Uint16Array(256);
for (const [kind, characters] of [
  [UPPER, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"],
  [LOWER, "abcdefghijklmnopqrstuvwxyz"],
  [DIGIT, "0123456789"],
  [HEX_LETTER, "abcdefABCDEF"],
  [UNDERSCORE, "_"],
  [DASH, "-"],
  [DOT, "."],
  [PLUS, "+/="],
  [BLANK, " "],
  [QUOTE, "\"'`{}<"],
  [URL_END, "\t\n\v\f\r \"'`<>\\/|"],
  [ESCAPED, "nrtbfv0"],
] as const)
  for (const character of characters) KINDS[character.charCodeAt(0)] = (KINDS[character.charCodeAt(0)] ?? 0) | kind;

/** Also false beyond the ends of the text. */
function is(text: Uint8Array, at: number, kinds: number): boolean {
  return at >= 0 && at < text.length && ((KINDS[text[at] ?? 0] ?? 0) & kinds) !== 0;
}

/** A prefix followed by letters. */
type Token = {
  readonly letters: number;
  readonly min: number;
  /** Exactly `min` letters, not more. */
  readonly exact?: true;
  /** Only at the beginning of a word. Checked before reading on, so that no text is read twice. */
  readonly word?: true;
  /** A final check of the text: may it be a token? */
  readonly accept?: (text: Uint8Array, from: number, to: number) => boolean;
};

export const SHAPES: readonly Shape[] = [
  // "task-ant-colony" is no key.
  token("anthropic_key", "sk-ant-", { letters: WORD, min: 10, word: true }),
  token("api_key", "sk-", { letters: WORD, min: 16, word: true, accept: isLikelyKey }),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix) =>
    token("github_token", prefix, { letters: WORD | DOT, min: 20 }),
  ),
  token("github_token", "github_pat_", { letters: ALNUM | UNDERSCORE, min: 20 }),
  ...["AKIA", "ASIA"].map((prefix) => token("aws_key_id", prefix, { letters: UPPER | DIGIT, min: 16, exact: true })),
  token("google_key", "AIza", { letters: WORD, min: 30, word: true }),
  ...["xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"].map((prefix) =>
    token("slack_token", prefix, { letters: ALNUM | DASH, min: 10 }),
  ),
  token("gitlab_token", "glpat-", { letters: WORD | DOT, min: 16 }),
  token("npm_token", "npm_", { letters: ALNUM, min: 36 }),
  ...["pr_at_", "pr_ag_", "pr_op_"].map((prefix) => token("passrail_token", prefix, { letters: WORD, min: 16 })),
  { kind: "jwt", prefix: "eyJ", measure: measureJwt },
  { kind: "private_key", prefix: "-----BEGIN ", measure: measurePem },
  { kind: "url_password", prefix: "://", measure: measureUrl },
];

function token(kind: string, prefix: string, { letters, min, exact, word, accept }: Token): Shape {
  return {
    kind,
    prefix,
    measure: (text, at, final) => {
      if (word === true && !beginsWord(text, at)) return NONE;
      const from = at + prefix.length;
      const limit = exact === true ? from + min + 1 : at + LONGEST;
      let end = runEnd(text, from, limit, letters);
      if (end === text.length && end < limit && !final) return MORE;
      // The full stop of a sentence is not part of a token.
      while (end > from && is(text, end - 1, DOT)) end -= 1;
      if (end - from < min || (exact === true && end - from > min)) return NONE;
      return accept === undefined || accept(text, from, end) ? end - at : NONE;
    },
  };
}

/** Names of CSS classes, branches and packages begin with "sk-" too: a key does not consist of words. */
function isLikelyKey(text: Uint8Array, from: number, to: number): boolean {
  let hasDigit = false;
  let hasUpper = false;
  let longest = 0;
  let run = 0;
  for (let at = from; at < to; at += 1) {
    hasDigit ||= is(text, at, DIGIT);
    hasUpper ||= is(text, at, UPPER);
    run = is(text, at, ALNUM) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return hasDigit && (hasUpper || longest >= 16);
}

/** Three or more parts of base64 separated by dots. */
function measureJwt(text: Uint8Array, at: number, final: boolean): number {
  if (!beginsWord(text, at)) return NONE;
  const limit = at + LONGEST;
  let from = at + 3;
  for (let parts = 1; ; parts += 1) {
    const stop = runEnd(text, from, limit, WORD);
    if (stop === text.length && stop < limit && !final) return MORE;
    if (parts <= 3 && stop - from < (parts < 3 ? 8 : 16)) return NONE;
    const goesOn = stop < limit && is(text, stop, DOT);
    if (parts < 3 && !goesOn) return NONE;
    if (parts >= 3) {
      if (goesOn && stop + 1 === text.length && !final) return MORE;
      // A dot without a further part ends a sentence.
      if (!goesOn || !is(text, stop + 1, WORD)) return stop - at;
    }
    from = stop + 1;
  }
}

/** At this distance from the last long line of base64 the key has ended. */
const PEM_GAP = 256;
const PEM_RUN = 32;
const PEM_MARK = 60;
const PRIVATE_KEYS = ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"];

/**
 * From the first line of a private key to its last, across line numbers, indents and escaped line breaks. A quote or a brace ends it, and
 * so does a text without base64: code that only mentions the first line stays readable.
 */
function measurePem(text: Uint8Array, at: number, final: boolean): number {
  const head = markEnd(text, at, "-----BEGIN ", final);
  if (head <= 0) return head;
  if (!PRIVATE_KEYS.some((words) => endsWith(text, head, words))) return NONE;
  let run = 0;
  let lastRun = 0;
  let lastBase64 = head;
  for (let here = head; ; here += 1) {
    if (here - at >= LONGEST) return lastRun === 0 ? NONE : LONGEST;
    if (here >= text.length && !final) return MORE;
    if (is(text, here, BASE64)) {
      run += 1;
      lastBase64 = here + 1;
      if (run >= PEM_RUN) lastRun = here + 1;
      continue;
    }
    run = 0;
    const end = is(text, here, DASH) ? markEnd(text, here, "-----END ", final) : NONE;
    if (end === MORE) return MORE;
    if (end > 0) return end - at;
    const isOver = here >= text.length || is(text, here, QUOTE) || isDashes(text, here);
    if (isOver) return lastRun === 0 ? NONE : lastBase64 - at;
    if (here - Math.max(lastRun, head) > PEM_GAP) return lastRun === 0 ? NONE : lastRun - at;
  }
}

function endsWith(text: Uint8Array, end: number, words: string): boolean {
  for (let back = 1; back <= words.length; back += 1)
    if (text[end - back] !== words.charCodeAt(words.length - back)) return false;
  return true;
}

function isDashes(text: Uint8Array, at: number): boolean {
  for (let dash = 0; dash < 5; dash += 1) if (!is(text, at + dash, DASH)) return false;
  return true;
}

/** The offset after `-----BEGIN … -----`, or NONE or MORE. */
function markEnd(text: Uint8Array, at: number, prefix: string, final: boolean): number {
  for (let index = 0; index < prefix.length; index += 1) {
    if (at + index >= text.length) return final ? NONE : MORE;
    if (text[at + index] !== prefix.charCodeAt(index)) return NONE;
  }
  const limit = at + PEM_MARK;
  const label = runEnd(text, at + prefix.length, limit, UPPER | DIGIT | BLANK);
  for (let end = label; end < label + 5; end += 1) {
    if (end >= text.length) return final ? NONE : MORE;
    if (end >= limit || !is(text, end, DASH)) return NONE;
  }
  return label + 5;
}

const URL_PART = 200;
const COLON = 0x3a;
const AT = 0x40;

/** `://user:password` before an `@`; scheme and host stay readable. */
function measureUrl(text: Uint8Array, at: number, final: boolean): number {
  let colon = NONE;
  for (let here = at + 3; here < at + URL_PART; here += 1) {
    if (here >= text.length) return final ? NONE : MORE;
    if (text[here] === AT) return colon !== NONE && here > colon + 1 ? here - at : NONE;
    if (is(text, here, URL_END)) return NONE;
    if (text[here] === COLON && colon === NONE) colon = here;
  }
  return NONE;
}

function runEnd(text: Uint8Array, from: number, limit: number, kinds: number): number {
  const stop = Math.min(limit, text.length);
  let end = from;
  while (end < stop && ((KINDS[text[end] ?? 0] ?? 0) & kinds) !== 0) end += 1;
  return end;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const SEMICOLON = 0x3b;
const BRACKET = 0x5b;
const LETTER_M = 0x6d;
const LETTER_U = 0x75;
const LETTER_X = 0x78;

/** No letter, digit, dash or underscore precedes it, except as the end of an escape: `\n`, `\u001b`, `%3D`, or a colour. */
function beginsWord(text: Uint8Array, at: number): boolean {
  if (!is(text, at - 1, WORD)) return true;
  const before = (back: number, character: number): boolean => text[at - back] === character;
  if (before(2, BACKSLASH) && is(text, at - 1, ESCAPED)) return true;
  if (is(text, at - 1, HEX) && is(text, at - 2, HEX)) {
    if (before(3, PERCENT) || (before(3, LETTER_X) && before(4, BACKSLASH))) return true;
    if (is(text, at - 3, HEX) && is(text, at - 4, HEX) && before(5, LETTER_U) && before(6, BACKSLASH)) return true;
  }
  if (!before(1, LETTER_M)) return false;
  let back = 2;
  while (back < LOOK_BEHIND && (is(text, at - back, DIGIT) || before(back, SEMICOLON))) back += 1;
  return before(back, BRACKET);
}
