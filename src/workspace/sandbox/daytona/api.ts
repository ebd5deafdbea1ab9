// The part of Daytona's HTTP API that Passrail uses: sandboxes by name, files, and commands that run to completion. Called directly,
// because the vendor's SDK brings some hundred packages. Every call has a timeout.

import { open } from "node:fs/promises";
import { err, ok, type Result } from "../../../core/result.ts";
import { optional } from "../../../core/optional.ts";
import { createCall, type DaytonaAccess, type Init } from "./call.ts";

export type DaytonaSandbox = {
  readonly id: string;
  readonly state: string;
  /** The address of the sandbox's own API. */
  readonly toolbox: string;
};

/** What the settings say of the machine. */
export type DaytonaMachine = {
  readonly image?: string;
  /** A snapshot of the account; instead of an image. */
  readonly snapshot?: string;
  /** The region. */
  readonly target?: string;
  readonly cpu?: number;
  /** In GiB. */
  readonly memory?: number;
  readonly disk?: number;
  readonly network?: "on" | "off";
};

export type WantedSandbox = DaytonaMachine & { readonly name: string; readonly labels: object };

export type Ran = { readonly exitCode: number; readonly output: string };

export type Daytona = {
  /** Null if there is none with this name. */
  find(name: string): Promise<Result<DaytonaSandbox | null>>;
  create(wanted: WantedSandbox): Promise<Result<DaytonaSandbox>>;
  /** One that has stopped starts again, with its files. */
  start(sandbox: DaytonaSandbox): Promise<Result<DaytonaSandbox>>;
  /** Also succeeds if it is gone. */
  remove(name: string): Promise<Result<null>>;
  run(sandbox: DaytonaSandbox, command: string, seconds: number): Promise<Result<Ran>>;
  /** A blob of a file is read while it is sent. */
  upload(sandbox: DaytonaSandbox, path: string, content: Uint8Array | Blob): Promise<Result<null>>;
  /** Into a file of this machine, which does not exist. */
  download(sandbox: DaytonaSandbox, path: string, file: string, maxBytes: number): Promise<Result<null>>;
};

const FILE_MS = 10 * 60_000;
/** A sandbox without calls for this long stops: a forgotten one soon costs little. */
const IDLE_MINUTES = 30;
/** A stopped one keeps its files this long: a laptop that sleeps over a holiday must find its work again. */
const KEPT_MINUTES = 14 * 24 * 60;

export function connectDaytona({ url, key }: DaytonaAccess): Daytona {
  const call = createCall({ url, key });
  const json = (body: object): Init => ({
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const inside = ({ toolbox, id }: DaytonaSandbox, path: string): string =>
    `${toolbox.replace(/\/$/u, "")}/${id}${path}`;
  const base = url.replace(/\/$/u, "");

  const read = async (response: Response): Promise<Result<DaytonaSandbox>> => {
    const { id, state, toolboxProxyUrl } = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    if (typeof id !== "string" || !/^[\w-]{1,100}$/u.test(id)) {
      return err({ code: "daytona_answer", message: "Daytona named no id of its sandbox." });
    }
    if (typeof toolboxProxyUrl === "string") return ok({ id, state: String(state), toolbox: toolboxProxyUrl });
    const asked = await call(`${base}/sandbox/${id}/toolbox-proxy-url`);
    if (!asked.ok) return asked;
    const { url: toolbox } = (await asked.value.json().catch(() => ({}))) as { url?: unknown };
    return typeof toolbox === "string"
      ? ok({ id, state: String(state), toolbox })
      : err({ code: "daytona_answer", message: "Daytona named no address of its sandbox." });
  };

  return {
    async find(name) {
      const found = await call(`${base}/sandbox/${encodeURIComponent(name)}`);
      if (!found.ok) return found.error.code === "daytona_404" ? ok(null) : found;
      return read(found.value);
    },
    async create({ name, labels, image, snapshot, target, cpu, memory, disk, network }) {
      const build = image === undefined ? {} : { buildInfo: { dockerfileContent: `FROM ${image}\n` } };
      const ends = { autoStopInterval: IDLE_MINUTES, autoDeleteInterval: KEPT_MINUTES };
      const machine = optional({ snapshot, target, cpu, memory, disk });
      const sealed = network === "off" ? { networkBlockAll: true } : {};
      const body = json({ name, labels, ...ends, ...build, ...machine, ...sealed });
      const made = await call(`${base}/sandbox`, body, FILE_MS);
      return made.ok ? read(made.value) : made;
    },
    async start({ id }) {
      const started = await call(`${base}/sandbox/${id}/start`, { method: "POST" });
      return started.ok ? read(started.value) : started;
    },
    async remove(name) {
      const gone = await call(`${base}/sandbox/${encodeURIComponent(name)}`, { method: "DELETE" });
      return gone.ok || gone.error.code === "daytona_404" ? ok(null) : gone;
    },
    async run(sandbox, command, seconds) {
      const body = json({ command, timeout: seconds });
      const ran = await call(inside(sandbox, "/process/execute"), body, (seconds + 30) * 1000);
      if (!ran.ok) return ran;
      const answer = (await ran.value.json().catch(() => ({}))) as { exitCode?: unknown; result?: unknown };
      return ok({
        exitCode: Number(answer.exitCode ?? -1),
        output: typeof answer.result === "string" ? answer.result : "",
      });
    },
    async upload(sandbox, path, content) {
      const body = new FormData();
      body.set("file", content instanceof Blob ? content : new Blob([Buffer.from(content)]), "file");
      const address = inside(sandbox, `/files/upload?path=${encodeURIComponent(path)}`);
      const sent = await call(address, { method: "POST", body }, FILE_MS);
      return sent.ok ? ok(null) : sent;
    },
    async download(sandbox, path, file, maxBytes) {
      const got = await call(inside(sandbox, `/files/download?path=${encodeURIComponent(path)}`), {}, FILE_MS);
      if (!got.ok) return got;
      return keepCapped(got.value, path, file, maxBytes);
    },
  };
}

/** Data from a sandbox comes from an agent: it may be endless. */
async function keepCapped(response: Response, path: string, file: string, maxBytes: number): Promise<Result<null>> {
  const kept = await open(file, "wx", 0o600);
  let total = 0;
  try {
    for await (const chunk of response.body ?? []) {
      total += chunk.length;
      if (total > maxBytes)
        return err({
          code: "daytona_file_too_large",
          message: `${path} in the sandbox is larger than ${maxBytes} bytes.`,
        });
      await kept.write(chunk);
    }
  } catch (error) {
    return err({ code: "daytona_unreachable", message: `${path} could not be fetched: ${String(error)}` });
  } finally {
    await kept.close();
  }
  return ok(null);
}
