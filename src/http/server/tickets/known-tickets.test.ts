import { expect, test } from "vitest";
import { plainTicket as ticket } from "../../../../test/harness/tickets.ts";
import { DEFAULT_PICK_RULES, type PickRules } from "../../../core/ticket/pick-rules.ts";
import type { TicketScan } from "../../../core/ticket/ticket.ts";
import { until } from "../../../../test/harness/until.ts";
import { createKnownTickets } from "./known-tickets.ts";

/** A folder whose content and changes the test controls. */
function open(first: TicketScan) {
  const state = {
    scan: first,
    looks: 0,
    busy: new Set<string>(),
    fails: false,
    rules: (): PickRules => DEFAULT_PICK_RULES,
  };
  const hints: string[][] = [];
  const problems: unknown[] = [];
  let tell = (): void => undefined;
  const known = createKnownTickets({
    source: {
      folder: () => Promise.reject(new Error("nothing is written here")),
      async look() {
        state.looks++;
        if (state.fails) throw new Error("the disk is gone");
        return state.scan;
      },
      listen(onChange) {
        tell = onChange;
        return () => void (tell = () => undefined);
      },
      busy: () => state.busy,
      rules: () => state.rules,
    },
    onChange: (ids) => hints.push([...ids]),
    onProblem: (error) => problems.push(error),
  });
  return { known, state, hints, problems, tell: () => tell() };
}

test("files are read once for many questions, and again when they have changed", async () => {
  const { known, state, hints, tell } = open({ tickets: [ticket(1), ticket(2)], problems: [] });
  const ids = async () => (await known.now()).newestFirst.map(({ ticket: { id } }) => id);
  expect(await ids()).toEqual(["AGI-2", "AGI-1"]);
  await Promise.all([known.now(), known.now(), known.now()]);
  expect(state.looks).toBe(1);
  state.scan = { tickets: [ticket(1), ticket(2), ticket(3)], problems: [] };
  tell();
  tell();
  // The caller does not wait for the scan.
  expect(await ids()).toEqual(["AGI-2", "AGI-1"]);
  await until("it is told", () => (hints.length > 0 ? true : undefined));
  expect(hints).toEqual([["AGI-3"]]);
  expect(await ids()).toEqual(["AGI-3", "AGI-2", "AGI-1"]);
  expect(state.looks).toBe(2);
  known.close();
});

test("whoever writes sees the files as they are, and whoever asks after a write sees it", async () => {
  const { known, state } = open({ tickets: [ticket(1)], problems: [] });
  await known.now();
  state.scan = { tickets: [ticket(1, { title: "Other", hash: "x" })], problems: [] };
  expect((await known.fresh()).plan.tickets.get("AGI-1")?.ticket.title).toBe("Other");
  state.scan = { tickets: [], problems: [] };
  known.wrote();
  expect((await known.now()).newestFirst).toEqual([]);
  known.close();
});

test("who waits for a ticket is told when that ticket is done, although its own file is as it was", async () => {
  const waiting = ticket(2, { dependsOn: ["AGI-1"] });
  const { known, state, hints } = open({ tickets: [ticket(1), waiting], problems: [] });
  expect((await known.now()).plan.tickets.get("AGI-2")?.state).toBe("waits");
  state.scan = { tickets: [ticket(1, { status: "Done", hash: "done" }), waiting], problems: [] };
  expect((await known.fresh()).plan.tickets.get("AGI-2")?.state).toBe("eligible");
  expect(hints[0]?.toSorted()).toEqual(["AGI-1", "AGI-2"]);
  state.busy = new Set(["AGI-2"]);
  expect((await known.fresh()).plan.tickets.get("AGI-2")?.state).toBe("working");
  expect(hints[1]).toEqual(["AGI-2"]);
  known.close();
});

test("a file that is no ticket any more is told, too", async () => {
  const { known, state, hints } = open({ tickets: [ticket(1)], problems: [] });
  await known.now();
  const problem = { code: "yaml_syntax", message: "broken", severity: "refused", path: "x" } as const;
  state.scan = { tickets: [ticket(1)], problems: [problem] };
  await known.fresh();
  expect(hints).toEqual([[""]]);
  known.close();
});

test("a folder that cannot be read is a failure of that question; the next one asks again", async () => {
  const { known, state, problems, tell } = open({ tickets: [ticket(1)], problems: [] });
  state.fails = true;
  await expect(known.now()).rejects.toThrow("the disk is gone");
  tell();
  await until("the background says so", () => (problems.length > 0 ? true : undefined));
  state.fails = false;
  expect((await known.now()).newestFirst).toHaveLength(1);
  known.close();
  tell();
});
