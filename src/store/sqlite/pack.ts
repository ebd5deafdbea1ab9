// How the events of one commit share a row. An event becomes a list: the number of its shape, then its values. A shape is the type of an
// event and the names of its values; few are in use, and the table `shapes` holds each once. Nothing is lost: unpacking gives the event
// byte for byte, in the order of its keys. Pure; shapes.ts has the numbers.

import type { Json, JsonObject } from "../../core/json.ts";
import type { RunEvent } from "../../core/run/event.ts";

/** The type of the event, then the names of its values. */
export type EventShape = readonly string[];

/** The body is the event without type, time and actor. */
export type Unpacked = {
  readonly type: string;
  readonly at: string;
  readonly actor: string;
  readonly body: JsonObject;
};

/** The values that most events of a commit share: those of its last event. */
export type Common = { readonly at: string; readonly actor: string };

/** Events that have no shape are kept as text: [0, type, body, at, actor]. */
export const AS_TEXT = 0;

/** Objects whose own values are taken one by one: their keys are ours, and bounded. */
const OPENED = new Set(["carry", "outcome", "item"]);
/** A mark: the value is that of the payload under the same name. */
const AS_IN_PAYLOAD = 0;
const NAME = /^(?!__proto__)[A-Za-z_]\w*(\.(?!__proto__)[A-Za-z_]\w*=?)?$/u;
const NAMES_AT_MOST = 60;

/** A shape as one text, to look up its number by, and the list without that number. */
export function pack(event: RunEvent, { at, actor }: Common): { readonly shape: string; readonly values: Json[] } {
  let shape: string = event.type;
  const values: Json[] = [0];
  const add = (name: string, value: Json): void => {
    shape += ` ${name}`;
    values.push(value);
  };
  for (const [key, value] of Object.entries(event) as [string, Json | undefined][]) {
    if (value === undefined || key === "type" || key === "at" || key === "actor") continue;
    if (OPENED.has(key) && isFilled(value)) addOpened(key, value, add);
    else add(key, value);
  }
  if (event.at !== at) add("at", event.at);
  const own = event.actor.toWellFormed();
  if (own !== actor) add("actor", own);
  return { shape, values };
}

function addOpened(key: string, opened: JsonObject, add: (name: string, value: Json) => void): void {
  const { payload } = opened;
  for (const [name, value] of Object.entries(opened)) {
    if (value === undefined) continue;
    if (name !== "payload" && isSaidTwice(value, isObject(payload) ? payload[name] : undefined))
      add(`${key}.${name}=`, AS_IN_PAYLOAD);
    else add(`${key}.${name}`, value);
  }
}

/** An agent's record is kept whole, and what was read from it is not kept beside it again. */
function isSaidTwice(value: Json, inPayload: Json | undefined): boolean {
  if (inPayload === undefined || typeof value === "number" || typeof value === "boolean" || value === null)
    return false;
  return value === inPayload || (typeof value === "object" && JSON.stringify(value) === JSON.stringify(inPayload));
}

/** False for a shape whose names could be mistaken; such events are kept as text. */
export function isFit(shape: EventShape): boolean {
  return (
    shape.length <= NAMES_AT_MOST &&
    new Set(shape).size === shape.length &&
    shape.slice(1).every((name) => NAME.test(name))
  );
}

export function asText({ type, at, actor, body }: Omit<Unpacked, "body"> & { readonly body: string }): Json[] {
  return [AS_TEXT, type, body, at, actor];
}

/** The input of `asText`. Throws for other lists. */
export function fromText(values: readonly Json[]): { type: string; at: string; actor: string; body: string } {
  const [, type, body, at, actor] = values;
  const isText = values.length === 5 && typeof type === "string" && typeof body === "string";
  if (!isText || typeof at !== "string" || typeof actor !== "string") throw new Error("an event as text is not whole");
  return { type, at, actor, body };
}

/** Throws where the list is not one that `pack` made. */
export function unpack(values: readonly Json[], shape: EventShape, common: Common): Unpacked {
  const [type = "", ...names] = shape;
  if (names.length !== values.length - 1) throw new Error("the values of an event do not fit its shape");
  const body: Record<string, Json> = {};
  let { at, actor } = common;
  for (const [index, name] of names.entries()) {
    const value = values[index + 1] ?? null;
    const dot = name.indexOf(".");
    if (dot !== -1) put((body[name.slice(0, dot)] ??= {}) as Record<string, Json>, name.slice(dot + 1), value);
    else if (name === "at") at = textOf(value);
    else if (name === "actor") actor = textOf(value);
    else body[name] = value;
  }
  for (const name of names) if (name.endsWith("=")) fillIn(body, name);
  return { type, at, actor, body };
}

function textOf(value: Json): string {
  if (typeof value !== "string") throw new Error("the time or the actor of an event is no text");
  return value;
}

function put(object: Record<string, Json>, name: string, value: Json): void {
  if (!name.endsWith("=")) object[name] = value;
  else if (value === AS_IN_PAYLOAD) object[name.slice(0, -1)] = null;
  else throw new Error("a value of an event is both in its payload and beside it");
}

function fillIn(body: Readonly<Record<string, Json>>, name: string): void {
  const [key = "", field = ""] = name.slice(0, -1).split(".");
  const opened = body[key] as Record<string, Json>;
  const payload = opened["payload"];
  const value = isObject(payload) ? payload[field] : undefined;
  if (value === undefined) throw new Error(`the payload has no ${field}`);
  opened[field] = value;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFilled(value: Json): value is JsonObject {
  return isObject(value) && Object.values(value).some((each) => each !== undefined);
}
