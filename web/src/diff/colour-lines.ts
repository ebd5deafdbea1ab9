// Finds what the pieces of code are, with the grammars of editors (shiki). It runs in a worker: a grammar may take long over hostile text.

import { codeToTokensBase, createShikiPrimitive, type ThemeRegistration } from "@shikijs/primitive";
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { grammarOf } from "./grammars.ts";
import { type PackedLine, TOKEN_KINDS, type TokenKind } from "./token.ts";

/** Longer lines are generated; they get no colours. */
const LINE_CHARS = 1000;

const SCOPES: Readonly<Record<Exclude<TokenKind, "plain">, readonly string[]>> = {
  comment: ["comment", "punctuation.definition.comment"],
  keyword: ["keyword", "storage", "variable.language", "entity.name.tag", "markup.heading", "entity.name.section"],
  string: ["string", "markup.inline.raw", "markup.fenced_code", "constant.character.escape"],
  number: ["constant.numeric", "constant.language", "support.type.property-name", "entity.other.attribute-name"],
  name: [
    "entity.name.function",
    "support.function",
    "entity.name.type",
    "support.type",
    "support.class",
    "meta.decorator",
  ],
};
/** Operators are no words. */
const PLAIN = ["keyword.operator", "storage.type.function.arrow", "punctuation"];

/** A theme whose colours are the numbers of kinds. */
const THEME: ThemeRegistration = {
  name: "kinds",
  type: "light",
  settings: [
    { settings: { foreground: colourOf("plain"), background: "#ffffff" } },
    { scope: PLAIN, settings: { foreground: colourOf("plain") } },
    ...Object.entries(SCOPES).map(([kind, scope]) => ({
      scope: [...scope],
      settings: { foreground: colourOf(kind as TokenKind) },
    })),
    { scope: ["keyword.operator.new", "keyword.operator.expression"], settings: { foreground: colourOf("keyword") } },
    { scope: ["punctuation.definition.string"], settings: { foreground: colourOf("string") } },
  ],
};

const shiki = createShikiPrimitive({
  themes: [THEME],
  langs: [],
  // A pattern that JavaScript cannot have is left out, instead of all colours.
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});

/** Undefined if the file's language is not known. The lines follow each other, so that a comment over several of them is seen as one. */
export async function colourLines(path: string, lines: readonly string[]): Promise<readonly PackedLine[] | undefined> {
  const registered = (await grammarOf(path)?.())?.default;
  const lang = registered?.at(-1)?.name;
  if (registered === undefined || lang === undefined) return undefined;
  if (!shiki.getLoadedLanguages().includes(lang)) shiki.loadLanguageSync(...registered);
  const tokens = codeToTokensBase(shiki, lines.join("\n"), {
    lang,
    theme: THEME.name ?? "",
    tokenizeMaxLineLength: LINE_CHARS,
    // The page ends a worker that takes too long. A limit here would cut lines while the grammar is still being prepared.
    tokenizeTimeLimit: 0,
  });
  return tokens.map((line) =>
    line.flatMap(({ color, content }) => [Number.parseInt(color?.slice(1) ?? "0", 16) || 0, content.length]),
  );
}

function colourOf(kind: TokenKind): string {
  return `#${TOKEN_KINDS.indexOf(kind).toString(16).padStart(6, "0")}`;
}
