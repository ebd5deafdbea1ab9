// `--agent build="codex exec -"`: a program and its arguments, as a list. Quotes group words. There is no shell, so anything that would
// need one is refused instead of being passed as a word.

import { err, ok, type Result } from "../../core/result.ts";

const OPERATORS = ["&&", "||", "|", ";", ">", "<", "&", "`", "$("];

export function splitCommand(text: string): Result<readonly string[]> {
  const words: string[] = [];
  let word: { text: string; bare: string } | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (char === "\\" && quote === '"' && (text[at + 1] === '"' || text[at + 1] === "\\"))
        word = add(word, text[++at] ?? "", "");
      else word = add(word, char, "");
    } else if (char === "'" || char === '"') {
      quote = char;
      word = add(word, "", "");
    } else if (char === "\\" && at + 1 < text.length) {
      word = add(word, text[++at] ?? "", "");
    } else if (char === " " || char === "\t" || char === "\n") {
      if (word !== undefined) words.push(word.text);
      word = undefined;
    } else {
      word = add(word, char, char);
      const operator = OPERATORS.find((each) => word?.bare.endsWith(each));
      if (operator !== undefined) return err(shellOnly(operator));
    }
  }
  if (quote !== undefined) return err({ code: "command_quote_open", message: `a ${quote} is not closed in: ${text}` });
  if (word !== undefined) words.push(word.text);
  if (words.length === 0 || words[0] === "") return err({ code: "command_empty", message: "the command is empty" });
  return ok(words);
}

/** `bare`: the text outside of quotes, with a gap for each quoted part. */
function add(
  word: { text: string; bare: string } | undefined,
  text: string,
  bare: string,
): { text: string; bare: string } {
  return {
    text: `${word?.text ?? ""}${text}`,
    bare: bare === "" ? `${word?.bare ?? ""} ` : `${word?.bare ?? ""}${bare}`,
  };
}

function shellOnly(operator: string) {
  return {
    code: "command_must_be_list",
    message: `"${operator}" needs a shell, and commands are started without one`,
    hint: "give one program with arguments, put the sign in quotes, or write a small script and name that",
  };
}
