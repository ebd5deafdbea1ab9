// One request to a tracker over https. Its answers are untrusted: bounded, parsed by a schema, and an unexpected form is an error.

import { z } from "zod";
import { err, messageOf, ok, type Result } from "../core/result.ts";
import { UNAVAILABLE } from "./tracker.ts";

const TIMEOUT_MS = 30_000;
const MAX_PAGES = 20;
const MAX_BYTES = 8 * 1024 * 1024;

export type TrackerRequest<T> = {
  readonly name: string;
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly authorization: string;
  readonly body?: unknown;
  readonly answer: z.ZodType<T>;
  /** Some say in the text of a refusal that there were too many requests. */
  readonly isBusy?: (text: string) => boolean;
};

export async function askTracker<T>(request: TrackerRequest<T>): Promise<Result<T>> {
  const { name, url, method, authorization, body, answer, isBusy } = request;
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: "application/json",
        authorization,
        "user-agent": "passrail",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The key goes to this address only.
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await readCapped(response);
    if (response.status === 429 || response.status >= 500)
      return err({ code: UNAVAILABLE, message: `${name} answered ${response.status}.` });
    if (response.status === 401 || response.status === 403)
      return err({ code: "tracker_login", message: `${name} does not accept the key (${response.status}).` });
    if (!response.ok && isBusy?.(text) === true)
      return err({ code: UNAVAILABLE, message: `${name} takes no more requests for now.` });
    if (!response.ok)
      return err({ code: "tracker_refused", message: `${name} refused (${response.status}): ${shown(text)}` });
    const read = answer.safeParse(text === "" ? null : JSON.parse(text));
    if (read.success) return ok(read.data);
    return err({ code: "tracker_answer", message: `${name}'s answer is not understood.` });
  } catch (error) {
    return err({ code: UNAVAILABLE, message: `${name} cannot be reached: ${shown(messageOf(error))}` });
  }
}

async function readCapped(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Pages of a list until there is enough or no more; a list without an end is cut. */
export async function readPages<T, C>(
  read: (cursor: C | undefined) => Promise<Result<{ readonly items: readonly T[]; readonly next?: C | undefined }>>,
  isEnough: (all: readonly T[]) => boolean = () => false,
): Promise<Result<readonly T[]>> {
  const all: T[] = [];
  let cursor: C | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const got = await read(cursor);
    if (!got.ok) return got;
    all.push(...got.value.items);
    cursor = got.value.next;
    if (cursor === undefined || isEnough(all)) break;
  }
  return ok(all);
}

export function shown(text: string): string {
  return text.slice(0, 300).replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ");
}
