// Writes the mirrored rows over PostgREST, as Supabase offers it: one upsert per row, with the project's key.

import { messageOf, type Result } from "../core/result.ts";
import { isAboutRow, type StatusTable, type TableAnswer, type TableNames } from "./status-table.ts";

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 16 * 1024;

export type RestTableOptions = {
  /** https, or http on loopback. */
  readonly url: URL;
  readonly names: TableNames;
  /** Read for every write, so that a rotated key needs no restart. */
  readonly key: () => Result<string>;
};

export function openRestTable({ url, names, key }: RestTableOptions): StatusTable {
  const base = baseOf(url);

  async function write(table: string, row: object, stop: AbortSignal): Promise<TableAnswer> {
    const secret = key();
    if (!secret.ok) return { type: "unavailable", reason: secret.error.message };
    try {
      const response = await fetch(`${base}/${table}?on_conflict=id`, {
        method: "POST",
        redirect: "error",
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), stop]),
        headers: {
          apikey: secret.value,
          authorization: `Bearer ${secret.value}`,
          "content-type": "application/json",
          "content-profile": names.schema,
          prefer: "resolution=merge-duplicates,return=minimal",
        },
        body: JSON.stringify(row),
      });
      if (response.ok) {
        await response.body?.cancel();
        return { type: "written" };
      }
      return refusal(response.status, await beginOf(response), secret.value);
    } catch (error) {
      return { type: "unavailable", reason: withoutKey(networkReason(error), secret.value) };
    }
  }

  return {
    shown: url.origin,
    writeFeature: (row, stop) => write(names.features, row, stop),
    writeHandoff: (row, stop) => write(names.handoffs, row, stop),
    // Every request is one connection's own.
    close: () => undefined,
  };
}

/** A Supabase project has its tables below /rest/v1; a PostgREST elsewhere is named with its whole path. */
function baseOf(url: URL): string {
  const path = url.pathname.replace(/\/+$/u, "");
  return `${url.origin}${path === "" ? "/rest/v1" : path}`;
}

function refusal(status: number, text: string, key: string): TableAnswer {
  const { code, message } = problemIn(text);
  const reason = withoutKey(`HTTP ${status}${message === "" ? "" : `: ${message}`}`, key);
  return { type: isAboutRow(code) ? "refused" : "unavailable", reason };
}

/** PostgREST answers with an object that holds the SQLSTATE. */
function problemIn(text: string): { readonly code: unknown; readonly message: string } {
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown };
    return { code, message: typeof message === "string" ? message.slice(0, 300) : "" };
  } catch {
    return { code: undefined, message: "" };
  }
}

async function beginOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part as Uint8Array);
    bytes += (part as Uint8Array).length;
    if (bytes > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(parts).toString("utf8").slice(0, MAX_ANSWER_BYTES);
}

/** `fetch` says only that it failed; its cause has the reason. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code === "" ? messageOf(cause) : code;
}

function withoutKey(text: string, key: string): string {
  return text.replaceAll(key, "[key]");
}
