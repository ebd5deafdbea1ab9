// Splits a Markdown file into its front matter and its body. Strict on purpose: it never executes a file's content, and refuses doubtful
// front matter instead of guessing.

import { err, ok, type Result } from "../core/result.ts";

export type FrontMatter = {
  readonly yaml: string;
  /** Lines of the file above the YAML. */
  readonly linesBefore: number;
  readonly body: string;
};

/** The first line is exactly `---`, and so is the line that closes it. A byte order mark and CRLF are accepted. */
export function splitFrontMatter(text: string): Result<FrontMatter> {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const lines = plain.split("\n");
  const first = (lines[0] ?? "").replace(/\r$/, "");
  if (first !== "---") {
    if (!first.startsWith("---")) {
      return fail(
        "frontmatter_missing",
        "the file does not begin with front matter",
        'begin with a line "---", then name: and description:, then "---"',
      );
    }
    return fail(
      "frontmatter_language_unsupported",
      `the first line is "${first.slice(0, 40)}"`,
      'front matter is YAML; write "---" alone on the first line',
    );
  }
  const close = lines.findIndex((line, index) => index > 0 && (line === "---" || line === "---\r"));
  if (close === -1) return fail("frontmatter_unclosed", "the front matter is not closed", 'put a line "---" after it');
  return ok({
    // The closing line's own line end is not part of the YAML: a lone CR would be part of its last value.
    yaml: lines.slice(1, close).join("\n").replace(/\r$/, ""),
    linesBefore: 1,
    body: lines
      .slice(close + 1)
      .join("\n")
      .replaceAll("\r\n", "\n"),
  });
}

function fail(code: string, message: string, hint: string): Result<never> {
  return err({ code, message, hint });
}
