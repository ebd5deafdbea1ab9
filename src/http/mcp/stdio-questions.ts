// Questions to the person at a client on standard input and output, in the revisions with a handshake: the server sends a request of its
// own and waits for the line that answers it.

import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/verdict/report-fields.ts";
import type { Elicitation, Elicited } from "../../runner/desk/client-side.ts";

export type StdioQuestions = {
  /** Looks at every line that arrives; true for the answer to a question, which has no other reader. */
  take(message: Json): boolean;
  /** Undefined if the client has not said that it shows forms. */
  asker(signal: AbortSignal): ((question: Elicitation) => Promise<Elicited>) | undefined;
  /** No answer will come. */
  close(): void;
};

const CANCEL: Elicited = { action: "cancel" };

export function createStdioQuestions(write: (message: JsonObject) => Promise<void>): StdioQuestions {
  const open = new Map<string, (answer: Json | undefined) => void>();
  let asked = 0;
  let hasForms = false;

  async function ask({ message, requestedSchema, state }: Elicitation, signal: AbortSignal): Promise<Elicited> {
    asked += 1;
    const id = `passrail-${asked}`;
    const answered = new Promise<Json | undefined>((resolve) => {
      open.set(id, resolve);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    await write({ jsonrpc: "2.0", id, method: "elicitation/create", params: { message, requestedSchema } });
    const answer = signal.aborted ? undefined : await answered;
    open.delete(id);
    if (signal.aborted) await write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    return readElicited(answer, state);
  }

  return {
    take(message) {
      if (!isObject(message)) return false;
      if (message["method"] === "initialize") hasForms = showsForms(message["params"]);
      if (message["method"] !== undefined || typeof message["id"] !== "string") return false;
      const resolve = open.get(message["id"]);
      resolve?.(message["result"]);
      return resolve !== undefined;
    },
    asker: (signal) => (hasForms ? (question) => ask(question, signal) : undefined),
    close() {
      for (const resolve of open.values()) resolve(undefined);
    },
  };
}

/** An empty object means forms; since 2025-11-25 a client can also name them. */
function showsForms(params: Json | undefined): boolean {
  const capabilities = isObject(params) ? params["capabilities"] : undefined;
  return canElicit(isObject(capabilities) ? capabilities : {});
}

export function canElicit({ elicitation }: JsonObject): boolean {
  return isObject(elicitation) && (elicitation["form"] !== undefined || elicitation["url"] === undefined);
}

/** Anything but a clear yes with contents changes nothing. */
export function readElicited(answer: Json | undefined, state: string): Elicited {
  if (!isObject(answer)) return CANCEL;
  if (answer["action"] === "accept" && isObject(answer["content"]))
    return { action: "accept", content: answer["content"], state };
  return answer["action"] === "decline" ? { action: "decline" } : CANCEL;
}
