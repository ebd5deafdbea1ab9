// The image of a project's devcontainer.json, which is JSON with comments and trailing commas.

import { err, ok, type Result } from "../result.ts";

/** An image by its name; a leading dash would be an option of the engine. */
export const IMAGE_NAME = /^[A-Za-z0-9][\w./:@-]{0,299}$/u;

export function devcontainerImage(text: string): Result<string> {
  const no = (message: string) =>
    err({ code: "devcontainer_unusable", message, hint: "Name an image: --from <image>" });
  let read: unknown;
  try {
    read = JSON.parse(plainJson(text));
  } catch {
    return no("devcontainer.json cannot be read.");
  }
  const image = typeof read === "object" && read !== null && "image" in read ? read.image : undefined;
  if (typeof image !== "string") return no("devcontainer.json names no image: it builds one of its own.");
  return IMAGE_NAME.test(image) ? ok(image) : no("The image of devcontainer.json has no usable name.");
}

/** Without comments and trailing commas. One pass, so that hostile text costs no more than its length. */
function plainJson(text: string): string {
  let plain = "";
  let at = 0;
  while (at < text.length) {
    const end = text[at] === '"' ? endOfString(text, at) : at;
    if (end > at) plain += text.slice(at, end);
    else if (text.startsWith("//", at)) at = endOf(text, "\n", at + 2) - 1;
    else if (text.startsWith("/*", at)) at = endOf(text, "*/", at + 2) + 1;
    else plain += text[at];
    at = end > at ? end : at + 1;
  }
  return withoutTrailingCommas(plain);
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function withoutTrailingCommas(json: string): string {
  let plain = "";
  let at = 0;
  while (at < json.length) {
    const end = json[at] === '"' ? endOfString(json, at) : at + 1;
    const next = json[at] === "," ? /\S/u.exec(json.slice(at + 1, at + 200))?.[0] : undefined;
    if (next !== "}" && next !== "]") plain += json.slice(at, end);
    at = end;
  }
  return plain;
}
