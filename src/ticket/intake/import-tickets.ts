// Imports issues into the folder of tickets: known ones are left alone, the rest comes as one folder or not at all.

import { createHash } from "node:crypto";
import { ok, type Result } from "../../core/result.ts";
import type { NewTicket } from "../../core/ticket/new-ticket.ts";
import { FIRST_STATUS } from "../../core/ticket/status.ts";
import type { TicketFolder } from "../file/folder.ts";

export type Importable = NewTicket & { readonly source: string };

export type Imported = {
  /** With `dryRun` their paths are not known yet. */
  readonly created: readonly { readonly title: string; readonly source: string; readonly path: string | null }[];
  /** Imported before. */
  readonly known: readonly { readonly id: string; readonly source: string }[];
};

export async function importTickets(
  folder: TicketFolder,
  tickets: readonly Importable[],
  { dryRun }: { readonly dryRun: boolean },
): Promise<Result<Imported>> {
  const { tickets: there } = await folder.scan();
  const idBySource = new Map(there.flatMap(({ id, source }) => (source === null ? [] : [[source, id] as const])));
  const known = tickets.flatMap(({ source }) => {
    const id = idBySource.get(source);
    return id === undefined ? [] : [{ id, source }];
  });
  const fresh = tickets.filter(({ source }) => !idBySource.has(source));
  const named = (paths: readonly (string | null)[]): Imported => ({
    created: fresh.map(({ title, source }, at) => ({ title, source, path: paths[at] ?? null })),
    known,
  });
  if (dryRun || fresh.length === 0) return ok(named([]));
  const positions = new Map(fresh.map((ticket, at) => [ticket, at] as const));
  const list = fresh.map((ticket) => ({
    ...ticket,
    dependsOn: ticket.dependsOn.map((on) => {
      const other = typeof on === "number" ? tickets[on] : undefined;
      if (other === undefined) return on;
      return positions.get(other) ?? idBySource.get(other.source) ?? on;
    }),
  }));
  // The same issues get the same folder again, while the first import runs or after it broke off.
  const key = `import-${createHash("sha256")
    .update(fresh.map(({ source }) => source).join("\n"))
    .digest("hex")
    .slice(0, 32)}`;
  const created = await folder.create(list, { key, status: FIRST_STATUS });
  return created.ok ? ok(named(created.value)) : created;
}
