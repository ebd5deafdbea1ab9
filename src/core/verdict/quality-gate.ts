// Whether one line of "Quality-Gate Results" reports a clean gate (R-002-54), read from the tool's own summary.
// Clean needs a zero of something bad, or OK/passed, and nothing to the contrary; a line that is not understood is not clean.

const LINE_CHARS = 1000;

const BAD = new Set(
  `error errors err errs failure failures fail fails failed failing warning warnings warn warns vulnerability vulnerabilities fixable
  problem problems issue issues violation violations offense offenses offence offences defect defects bug bugs fatal exception exceptions
  regression regressions broken crash crashed crashes timeout timeouts aborted killed rejected mismatch mismatches unformatted leak leaks
  conflict conflicts critical high moderate medium low severe blocker blockers unresolved`.split(/\s+/),
);
const GOOD = new Set(["ok", "pass", "passed", "passes", "passing", "clean", "success", "successful", "succeeded"]);
/** Words that turn a good line into a doubtful one. */
const DOUBT = new Set(
  `not but except never cannot unable partially mostly almost should would will expected assumed some many several few unless
  unknown pending todo timed didn doesn wasn weren isn aren couldn`.split(/\s+/),
);
/** A count does not reach across these to its word. */
const STOPS = new Set("[ ] ( ) { } | , ; : . ! = with plus".split(" "));
const TOKEN = /[0-9]+(?:[.,][0-9]+)*|[a-z]+|\S/g;

export function isCleanGateLine(line: string): boolean {
  if (line.length > LINE_CHARS) return false;
  const tokens = tokensOf(line);
  let isReported = false;
  for (const [at, token] of tokens.entries()) {
    if (DOUBT.has(token)) return false;
    if (BAD.has(token)) {
      if (!isZero(badCount(tokens, at))) return false;
      isReported = true;
    } else if (GOOD.has(token)) {
      if (!isWholeCount(tokens, at)) return false;
      isReported = true;
    } else if (token === "exit" || token === "exited") {
      const code = tokens.slice(at + 1, at + 5).find(isNumber);
      if (code !== undefined && code !== "0") return false;
    }
  }
  return isReported;
}

/** Words, numbers and marks. A number glued to letters ("0x10", "3s") is a word: it counts nothing. */
function tokensOf(line: string): readonly string[] {
  const lower = line.toLowerCase();
  const tokens: string[] = [];
  for (const { 0: token, index } of lower.matchAll(TOKEN)) {
    const isGlued = isNumber(token) && /[a-z_]/.test(lower.slice(index + token.length, index + token.length + 1));
    tokens.push(isGlued ? `#${token}` : token);
  }
  return tokens;
}

/** The count of a bad word: "errors: 3", "errors (3)", "3 new errors", "1 of 96 files fixable", "no errors", "errors 3". */
function badCount(tokens: readonly string[], at: number): string | undefined {
  const after = tokens[at + 1] ?? "";
  const afterMark = tokens[at + 2];
  if (":=(".includes(after || "x") && afterMark !== undefined && isNumber(afterMark)) return afterMark;
  for (let back = at - 1; back >= 0 && back >= at - 6; back -= 1) {
    const token = tokens[back] ?? "";
    if (STOPS.has(token)) break;
    if (token === "no" || token === "zero") return "0";
    if (isNumber(token)) return partOf(tokens, back)?.part ?? token;
  }
  return isNumber(after) ? after : undefined;
}

/** "41/42 passed", "0 passed" and "80% passed" are not a pass; "42/42 passed", "OK (42 tests)" and "100% passed" are. */
function isWholeCount(tokens: readonly string[], at: number): boolean {
  let back = at - 1;
  if (tokens[back] === "tests" || tokens[back] === "test") back -= 1;
  if (tokens[back] === "no" || tokens[back] === "zero") return false;
  if (tokens[back] === "%") return tokens[back - 1] === "100";
  if (!isNumber(tokens[back] ?? "")) return true;
  const whole = partOf(tokens, back);
  return whole ? whole.part === whole.of : !isZero(tokens[back]);
}

/** "3 of 96" or "3/96" that ends at `at`. */
function partOf(tokens: readonly string[], at: number): { part: string; of: string } | undefined {
  const part = tokens[at - 2];
  const isPart = (tokens[at - 1] === "of" || tokens[at - 1] === "/") && part !== undefined && isNumber(part);
  return isPart ? { part, of: tokens[at] ?? "" } : undefined;
}

function isNumber(token: string): boolean {
  return /^[0-9]/.test(token);
}

/** "000" is not zero: it is the end of "1 000". */
function isZero(count: string | undefined): boolean {
  return count !== undefined && /^0(?:\.0{1,6})?$/.test(count);
}
