// A project with a folder of tickets in a temporary place.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { NewTicket } from "../../../src/core/ticket/new-ticket.ts";
import { openTicketFolder } from "../../../src/ticket/file/open-folder.ts";
import { ticketSettings } from "../../../src/settings/tickets.ts";

export function project(settings: Parameters<typeof ticketSettings>[0][number] = {}) {
  const root = mkdtempSync(join(tmpdir(), "passrail-tickets-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = (name: string) => join(root, "feature_requests", name);
  return {
    root,
    path,
    open: () => openTicketFolder({ project: root, settings: ticketSettings([settings]) }),
    write: (name: string, text: string | Buffer) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    },
    read: (name: string) => readFileSync(path(name), "utf8"),
  };
}

export function file(id: string, over: Readonly<Record<string, string>> = {}): string {
  const keys = { id, title: id, repo: ".", status: "Backlog", ...over };
  return `---\n${Object.entries(keys)
    .map(([key, value]) => `${key}: ${value}\n`)
    .join("")}---\n\nDo it.\n`;
}

export function newTicket(over: Partial<NewTicket> = {}): NewTicket {
  const plain = { title: "T", description: "D", repo: ".", group: "", variantHint: "", dependsOn: [] };
  return { ...plain, priority: null, source: null, ...over };
}
