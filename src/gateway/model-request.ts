// Which requests are for a model. A key opens more at a vendor (files, members, keys); an agent gets none of that through the gateway.

const POSTED =
  /(?:^|\/)(?:messages|messages\/count_tokens|responses|responses\/(?:compact|input_tokens)|chat\/completions|completions|embeddings)$/u;
const GEMINI =
  /(?:^|\/)models\/[^/:]+:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/u;
const LISTED = /(?:^|\/)models(?:\/[^/:]+)?$/u;

/** `path`: below the route, without a query. */
export function isModelRequest(method: string, path: string): boolean {
  if (path.length > 500 || /%2f|%5c|%2e|\\|\/\.{1,2}(?:\/|$)/iu.test(path)) return false;
  if (method === "GET" || method === "HEAD") return LISTED.test(path);
  return method === "POST" && (POSTED.test(path) || GEMINI.test(path));
}

/** The four ways in which vendors are asked, and tell what an answer used. */
export type ModelApi = "anthropic" | "responses" | "chat" | "gemini";

/** Undefined for requests that get no answer of a model. */
export function modelApi(path: string): ModelApi | undefined {
  if (/(?:^|\/)messages$/u.test(path)) return "anthropic";
  if (/(?:^|\/)responses(?:\/compact)?$/u.test(path)) return "responses";
  if (/(?:^|\/)(?:chat\/)?completions$/u.test(path)) return "chat";
  return /:(?:generateContent|streamGenerateContent)$/u.test(path) ? "gemini" : undefined;
}
