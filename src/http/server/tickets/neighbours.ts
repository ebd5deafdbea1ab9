// A ticket's neighbours: the tickets it needs and those that need it, directly and further on, nearest first, limited to what a picture can
// show.

import type { z } from "zod";
import type { ticketSchema } from "../../contract/schemas/ticket.ts";
import type { TicketPlan } from "../../../core/ticket/plan.ts";

type Graph = z.input<typeof ticketSchema>["graph"];

const NODES_AT_MOST = 60;

export function neighboursOf(id: string, { tickets }: TicketPlan): Graph {
  const depths = new Map([[id, 0]]);
  let isCut = false;
  const spread = (sign: 1 | -1, next: (from: string) => readonly string[]): void => {
    // Half of the room for each side, so that a crowd on one does not hide the other.
    let room = Math.floor(NODES_AT_MOST / 2);
    let ring = [id];
    for (let depth = 1; ring.length > 0; depth++) {
      const further: string[] = [];
      for (const each of ring.flatMap(next)) {
        if (depths.has(each)) continue;
        if (room === 0) {
          isCut = true;
          return;
        }
        room--;
        depths.set(each, sign * depth);
        further.push(each);
      }
      ring = further;
    }
  };
  spread(-1, (from) => tickets.get(from)?.ticket.dependsOn ?? []);
  spread(1, (from) => tickets.get(from)?.dependents ?? []);
  const nodes = [...depths].map(([each, depth]) => {
    const planned = tickets.get(each);
    return {
      id: each,
      title: planned?.ticket.title ?? null,
      word: planned?.ticket.status ?? null,
      state: planned?.state ?? null,
      depth,
    };
  });
  const edges = nodes.flatMap((node) =>
    [...new Set(tickets.get(node.id)?.ticket.dependsOn ?? [])]
      .filter((before) => depths.has(before))
      .map((before) => ({ from: before, to: node.id })),
  );
  return { nodes: nodes.toSorted((a, b) => a.depth - b.depth), edges, isCut };
}
