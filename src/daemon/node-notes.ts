// Nodes of one database tell each other who they are: host, address, version, and a hash of each setting, so that a node whose settings
// differ is named. The next performer decides by its own settings, so a difference is a surprise that waits for a takeover.

import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { differenceOf, type NodeNote, nodeNoteSchema } from "../core/view/node-note.ts";
import { nodeId } from "../settings/node-id.ts";
import type { Settings } from "../settings/settings.ts";
import type { NodeShare } from "../store/node-share.ts";

export type NodeNotes = { close(): void };

export type NodeNotesOptions = {
  readonly home: string;
  readonly share: NodeShare | null;
  readonly settings: Settings;
  readonly version: string;
  readonly url: string;
  readonly performs: boolean;
  readonly log: (line: string) => void;
};

const EVERY_MS = 5000;
/** Of one machine by their nature, or about where a value came from. */
const OWN: ReadonlySet<string> = new Set(["port", "publicUrl", "written", "writtenKeys"]);

export function openNodeNotes(options: NodeNotesOptions): NodeNotes {
  const { home, share, log } = options;
  if (share === null) return { close: () => undefined };
  const id = nodeId(home);
  const own = noteOf(options);
  const told = new Set<string>();
  let isClosed = false;
  const look = async (): Promise<void> => {
    await share.announce(id, JSON.stringify(own));
    for (const each of await share.nodes()) {
      const note = each.id === id ? undefined : nodeNoteSchema.safeParse(JSON.parse(each.body)).data;
      const difference = note === undefined ? undefined : differenceOf(own, note);
      if (difference === undefined || told.has(`${each.id} ${difference}`) || isClosed) continue;
      told.add(`${each.id} ${difference}`);
      log(`warning: ${difference}`);
    }
  };
  // The database may be away for a while; the next look says it.
  const again = (): void => void look().catch(() => undefined);
  again();
  const timer = setInterval(again, EVERY_MS).unref();
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

function noteOf({ settings, version, url, performs }: NodeNotesOptions): NodeNote {
  const hashes = Object.entries(settings).flatMap(([key, value]) => (OWN.has(key) ? [] : [[key, hashOf(value)]]));
  return { host: hostname(), url, version, performs, settings: Object.fromEntries(hashes) };
}

/** Without the origin of a value: a flag and a file may say the same. */
function hashOf(value: unknown): string {
  const plain =
    value !== null && typeof value === "object" && "from" in value && "value" in value ? value.value : value;
  return createHash("sha256")
    .update(JSON.stringify(plain) ?? "")
    .digest("hex")
    .slice(0, 12);
}
