// The citations of a piece of evidence: files with lines, a command with its exit code, a commit. Words that are none of these prove nothing.

export type Cited = {
  readonly paths: readonly { readonly path: string; readonly line: number | null }[];
  /** The commands in backticks. */
  readonly commands: readonly string[];
  readonly exitCode: number | null;
  readonly commit: string | null;
};

const TEXT_CHARS = 2000;
const TOKEN_CHARS = 300;
const PATHS_AT_MOST = 10;
const COMMANDS_AT_MOST = 5;
/** A line number makes a path of any name; without one it needs a folder and an ending. */
const WITH_LINE = /^([\w@+][\w@./+-]*):(\d{1,7})(?:[-:]\d{1,7})?$/u;
const BARE = /^[\w@+][\w@./+-]*\/[\w@./+-]*\.[A-Za-z0-9]{1,10}$/u;

export function citedIn(text: string): Cited {
  const said = text.slice(0, TEXT_CHARS);
  const spans = [...said.matchAll(/`([^`\n]{1,300})`/gu)].map(([, span = ""]) => span.trim());
  const paths = said
    .split(/[\s`,;()[\]<>"'|]+/u)
    .filter((token) => token.length <= TOKEN_CHARS)
    .flatMap((token) => pathIn(token.replace(/[.:]+$/u, "")));
  return {
    paths: paths.slice(0, PATHS_AT_MOST),
    commands: spans.filter((span) => pathIn(span).length === 0 && /[A-Za-z]/u.test(span)).slice(0, COMMANDS_AT_MOST),
    exitCode: exitCodeIn(said),
    commit: /\bcommit\s{1,3}`?([0-9a-f]{7,64})\b/u.exec(said)?.[1] ?? null,
  };
}

function pathIn(token: string): Cited["paths"] {
  if (token.includes("..") || token.includes("//")) return [];
  const found = WITH_LINE.exec(token);
  if (found?.[1] !== undefined) return [{ path: found[1], line: Number(found[2]) }];
  return BARE.test(token) ? [{ path: token, line: null }] : [];
}

function exitCodeIn(text: string): number | null {
  const found = /\bexit(?:ed)?(?:\s{1,3}(?:code|status|with))?\s{0,3}[:=]?\s{0,3}(\d{1,3})\b/iu.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
