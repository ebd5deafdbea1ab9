// The value of a setting as text that a person types, and back.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type SettingRow = AnswerTo<"settings">["editable"][number];

export const EFFECTS: Readonly<Record<SettingRow["effect"], string>> = {
  now: "It counts at once.",
  "next-run": "It counts for runs that are started from now on.",
  restart: "It counts after a restart of the daemon.",
};

export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Null: not set. Undefined: not a value of this kind; the daemon has the last word. */
export function readValue(
  { kind, mayBeNone }: Pick<SettingRow, "kind" | "mayBeNone">,
  text: string,
): string | number | boolean | null | undefined {
  const typed = text.trim();
  if (typed === "") return null;
  if (mayBeNone && typed === "none") return "none";
  switch (kind) {
    case "usd":
    case "count": {
      const plain = typed.replace(/^\$/u, "").replaceAll(/[,_ ]/gu, "");
      const amount = Number(plain);
      if (!Number.isFinite(amount) || amount <= 0) return undefined;
      return kind === "usd" || Number.isInteger(amount) ? amount : undefined;
    }
    case "switch":
      return typed === "true" ? true : typed === "false" ? false : undefined;
    case "choice":
    case "duration":
    case "name":
      return typed;
  }
}
