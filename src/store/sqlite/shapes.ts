// The numbers of the shapes of events (pack.ts). A shape is noted once, in the transaction of the first commit that has it, and never goes.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Json } from "../../core/json.ts";
import type { RunEvent } from "../../core/run/event.ts";
import { eventColumns, type EventRow, toEvent } from "../rows.ts";
import { AS_TEXT, asText, type Common, fromText, isFit, pack, type EventShape, type Unpacked, unpack } from "./pack.ts";

/** There are some hundred. A program that invents names must not fill the table with them. */
const SHAPES_AT_MOST = 5000;

export type CommitRow = Common & { readonly body: string };

/** To be used inside a transaction. `forget` when that is undone. */
export function prepareShapes(db: DatabaseSync) {
  const find = db.prepare("SELECT id FROM shapes WHERE names = ?");
  const count = db.prepare("SELECT count(*) AS shapes FROM shapes");
  const insert = db.prepare("INSERT INTO shapes (names) VALUES (?)");
  const known = new Map<string, { readonly number: number; readonly length: number }>();

  /** A name with a space in it makes more names than there are values. */
  function numberOf(shape: string, length: number): number {
    let found = known.get(shape);
    if (found === undefined) {
      const names = shape.split(" ");
      if (names.length !== length) return AS_TEXT;
      found = { number: noted(names), length };
      known.set(shape, found);
    }
    return found.length === length ? found.number : AS_TEXT;
  }

  function noted(shape: EventShape): number {
    if (!isFit(shape)) return AS_TEXT;
    const names = JSON.stringify(shape);
    const found = find.get(names)?.["id"];
    if (found !== undefined) return Number(found);
    return Number(count.get()?.["shapes"]) < SHAPES_AT_MOST ? Number(insert.run(names).lastInsertRowid) : AS_TEXT;
  }

  function packed(event: RunEvent, common: Common): Json {
    const { shape, values } = pack(event, common);
    const number = numberOf(shape, values.length);
    if (number === AS_TEXT) return asText(eventColumns(event));
    values[0] = number;
    return values;
  }

  return {
    /** The columns of the events' row that have their content. At least one event. */
    packAll(events: readonly RunEvent[]): CommitRow {
      const last = events.at(-1);
      const common = { at: last?.at ?? "", actor: last?.actor.toWellFormed() ?? "" };
      return { ...common, body: JSON.stringify(events.map((event) => packed(event, common))) };
    },
    /** The same for rows of another store. Their text is kept as it is where a list would not give it back. */
    packRows(rows: readonly EventRow[]): CommitRow {
      const last = rows.at(-1);
      const common = { at: last?.at ?? "", actor: last?.actor ?? "" };
      const lists = rows.map((row) => (isOurs(row) ? packed(toEvent(row), common) : asText(row)));
      return { ...common, body: JSON.stringify(lists) };
    },
    forget: (): void => known.clear(),
  };
}

/** Whether the row is one that our own event gives. */
function isOurs(row: EventRow): boolean {
  try {
    const { type, at, actor, body } = eventColumns(toEvent(row));
    return body === row.body && type === row.type && at === row.at && actor === row.actor;
  } catch {
    return false;
  }
}

export type Opened = ReturnType<typeof prepareOpening>;

export function prepareOpening(db: DatabaseSync) {
  // Prepared with the first row: a file of an older schema has neither.
  let find: StatementSync | undefined;
  const known = new Map<number, EventShape>();

  function shapeOf(number: number): EventShape {
    const shape = known.get(number) ?? stored(number);
    known.set(number, shape);
    return shape;
  }

  function stored(number: number): EventShape {
    find ??= db.prepare("SELECT names FROM shapes WHERE id = ?");
    const names = find.get(number)?.["names"];
    if (typeof names !== "string") throw new Error(`there is no shape ${number} of events`);
    return JSON.parse(names) as EventShape;
  }

  function opened(values: readonly Json[], common: Common): Unpacked {
    const number = values[0];
    if (number !== AS_TEXT) return unpack(values, shapeOf(Number(number)), common);
    const text = fromText(values);
    return { ...text, body: JSON.parse(text.body) as Unpacked["body"] };
  }

  return {
    /** The lists of a row, not opened yet. */
    listsIn: ({ body }: CommitRow): readonly (readonly Json[])[] => JSON.parse(body) as readonly (readonly Json[])[],
    typeOf: (values: readonly Json[]): string =>
      values[0] === AS_TEXT ? fromText(values).type : (shapeOf(Number(values[0]))[0] ?? ""),
    open: opened,
    /** The event's body as its row would have it: the text that its hash covers. */
    columnsOf(values: readonly Json[], common: Common): Omit<Unpacked, "body"> & { readonly body: string } {
      const event = opened(values, common);
      return values[0] === AS_TEXT ? fromText(values) : { ...event, body: JSON.stringify(event.body) };
    },
  };
}
