// Turns a delivery into an intent by the rules of its source. Pure: the server carries the intent out with the rights of the source. All
// text in an intent comes from outside.

import type { Json, JsonObject } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";

/** A path into the payload: names with dots between them; "" for none. */
type Path = string;

/** The id of a ticket or feature: the whole value, or the first id in a branch name. */
type SubjectField = { readonly path: Path; readonly pick: "whole" | "ticket-id" };

export type Meaning =
  | ({
      readonly type: "answer-gate";
      readonly answer: string;
      readonly subject: SubjectField;
      readonly comment: Path;
    } & GateFields)
  | {
      readonly type: "create-ticket";
      /** The flow for the ticket. */
      readonly flow: string;
      /** The ticket's id: the prefix and the value at the path (`GH-` and 12). Without one the delivery's id names it. */
      readonly id: { readonly path: Path; readonly prefix: string } | null;
      readonly title: Path;
      readonly body: Path;
      readonly author: Path;
      readonly origin: Path;
    }
  | ({
      readonly type: "mark-done";
      readonly subject: SubjectField;
      /** The answer that lets the run end at the gate. */
      readonly answer: string;
      /** If the run is at none of the gates: report that, or end the run, because its work is elsewhere. */
      readonly otherwise: "refuse" | "cancel";
    } & GateFields);

/** The gates that may be answered: by stage, `last` for those at which the flow's finished work waits, null for any open one. */
export type GateStages = readonly string[] | "last" | null;

type GateFields = {
  readonly stages: GateStages;
  /** Where the sender said it, for the record and as a fallback for missing text. */
  readonly origin: Path;
  /** The commit that the sender saw: another one on the run's branch voids the answer. */
  readonly commit: Path;
};

/** The first rule with a matching event and conditions applies. */
export type Rule = {
  /** The event with its action: `issues.labeled`. */
  readonly on: string;
  /** Each path has one of the values. */
  readonly when?: Readonly<Record<Path, readonly (string | number | boolean)[]>>;
  /** Both paths have the same text. */
  readonly same?: readonly (readonly [Path, Path])[];
  readonly means: Meaning;
};

export type GateWord = {
  readonly subjectId: string;
  readonly stages: GateStages;
  readonly answer: string;
  readonly comment: string;
  /** Null if the sender named none. */
  readonly commit: string | null;
  readonly otherwise: "refuse" | "cancel";
};

export type TicketWord = Omit<Extract<Intent, { type: "create-ticket" }>, "type">;

export type Intent =
  | ({ readonly type: "answer-gate" } & GateWord)
  /** The source may not answer: show its request to a person who may. */
  | ({ readonly type: "request-gate" } & GateWord)
  /** `origin` names it outside: the same origin twice is one ticket. */
  | {
      readonly type: "create-ticket";
      readonly flow: string;
      readonly id: string | null;
      readonly title: string;
      readonly body: string;
      readonly author: string | null;
      readonly origin: string | null;
    }
  | { readonly type: "ignored"; readonly reason: string };

export type Unfit = { readonly pointer: string; readonly message: string };

export type Mapped = {
  readonly rules: readonly Rule[];
  readonly rights: "request" | "operator";
};

const MAX_TITLE = 200;
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_COMMENT = 10_000;
const SUBJECT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const ID_FORM = "an id of letters, digits and . _ - is needed, up to 100 characters";
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const TICKET_ID = /(?<![A-Za-z0-9])[A-Z]{2,10}-[1-9][0-9]{0,8}(?![A-Za-z0-9])/;

/** An error if the event has a rule and the payload lacks a field that the rule needs. */
export function mapDelivery({ rules, rights }: Mapped, event: string, payload: JsonObject): Result<Intent, Unfit> {
  const named = rules.filter((rule) => rule.on === event);
  if (named.length === 0) return ignored("no rule for this event");
  const rule = named.find((candidate) => fits(candidate, payload));
  if (rule === undefined) return ignored("no rule for this kind of the event");
  const { means } = rule;
  switch (means.type) {
    case "answer-gate":
    case "mark-done": {
      const subject = subjectIn(payload, means.subject);
      if (subject.type === "unfit") return err(subject.unfit);
      if (subject.type === "absent") return ignored("no ticket is named");
      const { answer, stages } = means;
      const origin = originIn(payload, means.origin);
      const said = means.type === "mark-done" ? "" : (textAt(payload, means.comment) ?? "");
      const done = origin === null ? "Merged." : `Merged: ${origin}`;
      const nothing = means.type === "mark-done" ? done : (origin ?? "");
      return ok({
        type: rights === "operator" ? "answer-gate" : "request-gate",
        subjectId: subject.id,
        stages,
        answer,
        comment: cut(said.trim() === "" ? nothing : said, MAX_COMMENT),
        commit: commitIn(payload, means.commit),
        otherwise: means.type === "mark-done" ? means.otherwise : "refuse",
      });
    }
    case "create-ticket": {
      const title = (textAt(payload, means.title) ?? "").replaceAll(/\s+/gu, " ").trim();
      if (title === "") return err(unfit(means.title, "a title is needed"));
      const body = textAt(payload, means.body) ?? "";
      if (Buffer.byteLength(body) > MAX_TEXT_BYTES) return err(unfit(means.body, `at most ${MAX_TEXT_BYTES} bytes`));
      const author = textAt(payload, means.author);
      const id = idIn(payload, means.id);
      if (!id.ok) return id;
      return ok({
        type: "create-ticket",
        flow: means.flow,
        id: id.value,
        title: cut(title, MAX_TITLE),
        body,
        author: author === null ? null : cut(author, 100),
        origin: originIn(payload, means.origin),
      });
    }
  }
}

function fits(rule: Rule, payload: JsonObject): boolean {
  const meets = Object.entries(rule.when ?? {}).every(([path, allowed]) => {
    const value = at(payload, path);
    return allowed.some((one) => one === value);
  });
  const isSame = (rule.same ?? []).every(([one, other]) => {
    const text = textAt(payload, one);
    return text !== null && text === textAt(payload, other);
  });
  return meets && isSame;
}

type FoundSubject =
  | { readonly type: "found"; readonly id: string }
  | { readonly type: "absent" }
  | { readonly type: "unfit"; readonly unfit: Unfit };

function subjectIn(payload: JsonObject, { path, pick }: SubjectField): FoundSubject {
  const value = at(payload, path);
  const text = typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? String(value) : value;
  if (pick === "whole") {
    if (typeof text === "string" && SUBJECT_ID.test(text)) return { type: "found", id: text };
    return { type: "unfit", unfit: unfit(path, ID_FORM) };
  }
  // Other branches are merged too; this is no error.
  const id = typeof text === "string" ? TICKET_ID.exec(text.slice(0, 300))?.[0] : undefined;
  return id === undefined ? { type: "absent" } : { type: "found", id };
}

function idIn(
  payload: JsonObject,
  field: Extract<Meaning, { type: "create-ticket" }>["id"],
): Result<string | null, Unfit> {
  const value = field === null ? undefined : at(payload, field.path);
  if (field === null || value === undefined || value === null) return ok(null);
  const text = typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? String(value) : value;
  if (typeof text !== "string" || !SUBJECT_ID.test(`${field.prefix}${text}`)) return err(unfit(field.path, ID_FORM));
  return ok(`${field.prefix}${text}`);
}

function commitIn(payload: JsonObject, path: Path): string | null {
  const text = textAt(payload, path);
  return text !== null && COMMIT.test(text) ? text : null;
}

/** Later shown as a link, so only a web address is accepted. */
function originIn(payload: JsonObject, path: Path): string | null {
  const text = textAt(payload, path);
  return text !== null && text.length <= 500 && /^https?:\/\/[\x21-\x7e]+$/.test(text) ? text : null;
}

function textAt(payload: JsonObject, path: Path): string | null {
  const value = at(payload, path);
  return typeof value === "string" ? value : null;
}

function at(payload: JsonObject, path: Path): Json | undefined {
  if (path === "") return undefined;
  let value: Json | undefined = payload;
  for (const name of path.split(".")) {
    if (value === null || typeof value !== "object" || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // Never cuts a surrogate pair in half.
  const end = /[\ud800-\udbff]/.test(text.charAt(length - 2)) ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

function unfit(path: Path, message: string): Unfit {
  return { pointer: `/${path.replaceAll(".", "/")}`, message };
}

function ignored(reason: string): Result<Intent, Unfit> {
  return ok({ type: "ignored", reason });
}
