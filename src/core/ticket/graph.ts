// Dependencies between tickets: the ids that depend on one, and the cycles in which every ticket waits. Nothing here recurses, so a chain
// of any length is fine.

type Node = { readonly id: string; readonly dependsOn: readonly string[] };

/** Id -> the tickets that list it under `dependsOn`, in the order of the list. */
export function dependentsById(tickets: readonly Node[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { id, dependsOn } of tickets)
    for (const before of dependsOn) {
      const list = found.get(before);
      if (list === undefined) found.set(before, [id]);
      else list.push(id);
    }
  return found;
}

/** No other ticket waits for this one: the end of its chain. */
export function isTerminal(id: string, tickets: readonly Node[]): boolean {
  return !tickets.some((other) => other.id !== id && other.dependsOn.includes(id));
}

/** Id of every ticket on a cycle -> one nearby cycle, first id repeated at the end. */
export function dependencyCycles(tickets: readonly Node[]): ReadonlyMap<string, readonly string[]> {
  const edges = new Map(stuck(tickets).map(({ id, dependsOn }) => [id, dependsOn] as const));
  const cycles = new Map<string, readonly string[]>();
  for (const component of strongComponents(edges)) {
    const members = new Set(component);
    const [first] = component;
    if (first === undefined) continue;
    if (component.length === 1 && !edges.get(first)?.includes(first)) continue;
    const path = circleWithin(first, members, edges);
    for (const id of component) cycles.set(id, path);
  }
  return cycles;
}

/** Tickets that would never start even if all others finished: usually none, and found quickly. A dependency listed twice counts twice. */
function stuck(tickets: readonly Node[]): readonly Node[] {
  const places = new Map(tickets.map(({ id }, at) => [id, at]));
  const open = new Int32Array(tickets.length);
  const waiting: number[][] = tickets.map(() => []);
  for (const [at, { dependsOn }] of tickets.entries())
    for (const before of dependsOn) {
      const place = places.get(before);
      if (place === undefined) continue;
      open[at] = (open[at] ?? 0) + 1;
      waiting[place]?.push(at);
    }
  const free = [...open.keys()].filter((at) => open[at] === 0);
  for (let at = free.pop(); at !== undefined; at = free.pop())
    for (const next of waiting[at] ?? []) {
      const left = (open[next] ?? 0) - 1;
      open[next] = left;
      if (left === 0) free.push(next);
    }
  return tickets.filter((_, at) => open[at] !== 0);
}

/** AGI-1 → AGI-2 → AGI-1, shortened in the middle if long. */
export function formatCycle(path: readonly string[]): string {
  const shown = path.length <= 12 ? path : [...path.slice(0, 8), "…", ...path.slice(-3)];
  return shown.join(" → ");
}

type Edges = ReadonlyMap<string, readonly string[]>;

/** Tarjan's algorithm with an explicit stack. Visits each node and edge once. */
function strongComponents(edges: Edges): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const components: string[][] = [];
  for (const root of edges.keys()) {
    if (order.has(root)) continue;
    const path = [enter(root)];
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const { id, next } = at;
      const target = (edges.get(id) ?? [])[next];
      if (target !== undefined) {
        at.next++;
        if (!edges.has(target)) continue;
        if (!order.has(target)) path.push(enter(target));
        else if (isOpen.has(target)) lower(id, order.get(target) ?? 0);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) lower(parent.id, low.get(id) ?? 0);
      if (low.get(id) === order.get(id)) components.push(closeUpTo(id));
    }
  }
  return components;

  function enter(id: string): { readonly id: string; next: number } {
    low.set(id, order.size);
    order.set(id, order.size);
    open.push(id);
    isOpen.add(id);
    return { id, next: 0 };
  }

  function lower(id: string, to: number): void {
    if (to < (low.get(id) ?? 0)) low.set(id, to);
  }

  function closeUpTo(id: string): string[] {
    const component = open.splice(open.lastIndexOf(id));
    for (const each of component) isOpen.delete(each);
    return component;
  }
}

/** Within such a component every walk that stays inside returns to its start. */
function circleWithin(start: string, members: ReadonlySet<string>, edges: Edges): readonly string[] {
  const walked = new Map<string, number>();
  let at = start;
  while (!walked.has(at)) {
    walked.set(at, walked.size);
    at = edges.get(at)?.find((target) => members.has(target)) ?? at;
  }
  return [...[...walked.keys()].slice(walked.get(at)), at];
}
