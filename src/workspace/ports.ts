// A block of ports for each workspace, so that two servers under test do not collide. A workspace keeps its block until it is closed.

import { createServer } from "node:net";
import { err, ok, type Result } from "../core/result.ts";
import type { Notes } from "./notes.ts";

export type PortSettings = { readonly first: number; readonly step: number };

/** The number of ports of a block to test; the rest of a longer block is assumed free. */
const TRIED = 20;
const HIGHEST = 65_535;

/** The first port of a block that no other workspace has and where nothing listens now. */
export async function takeBlock({ first, step }: PortSettings, notes: Notes): Promise<Result<number>> {
  const taken = new Set((await notes.list()).map(({ port }) => port));
  for (let base = first; base + step - 1 <= HIGHEST; base += step) {
    if (!taken.has(base) && (await isFree(base, Math.min(step, TRIED)))) return ok(base);
  }
  return err({
    code: "no_free_ports",
    message: `From port ${first} on there is no free block of ${step} left.`,
    hint: "See what listens (ss -ltn), close workspaces (passrail workspace list), or set workspaces.ports.first lower.",
  });
}

async function isFree(base: number, count: number): Promise<boolean> {
  for (let port = base; port < base + count; port++) if (!(await canListen(port))) return false;
  return true;
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
