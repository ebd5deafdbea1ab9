// The daemon itself: health, settings with their origin, logging in from a browser.

import { z } from "zod";
import { json, time } from "./common.ts";
import { keyName } from "./key.ts";
import { RUN_STATUSES } from "./run.ts";

export const healthSchema = z
  .object({
    status: z.enum(["ok", "unavailable"]),
    version: z.string(),
    now: time,
    lastSeq: z.int(),
    runs: z.record(z.enum(RUN_STATUSES), z.int()),
    waiting: z.int().meta({ description: "inbox items that wait for a person" }),
  })
  .meta({ id: "Health" });

const settingSchema = z
  .object({
    name: z.string(),
    value: json,
    from: z.string().meta({
      description: "flag, environment, project, user or default; project and user if the value merges both files",
    }),
  })
  .meta({ id: "Setting" });

const editableSchema = z
  .object({
    name: z.string(),
    about: z.string(),
    kind: z.enum(["usd", "count", "duration", "name", "choice", "switch"]),
    options: z.array(z.string()).meta({ description: "of a choice" }),
    effect: z.enum(["now", "next-run", "restart"]).meta({ description: "when a change takes effect" }),
    mayBeNone: z.boolean().meta({ description: "`none` removes the limit" }),
    user: json.meta({ description: "what the user's file says; null: nothing" }),
    project: json.meta({ description: "what the project's file says; null: nothing" }),
  })
  .meta({ id: "EditableSetting" });

const scope = z.enum(["user", "project"]).meta({ description: "whose file" });

export const settingsSchema = z.object({
  settings: z.array(settingSchema),
  editable: z.array(editableSchema).meta({ description: "those that POST /api/settings may change" }),
  files: z.array(
    z.object({ scope, path: z.string(), version: z.string().meta({ description: "another one after every change" }) }),
  ),
});

export const editSettingSchema = z
  .strictObject({
    scope,
    name: z.string().min(1).max(100).meta({ description: "one of the editable settings, such as budgets.day.usd" }),
    value: z
      .union([z.string().min(1).max(100), z.number(), z.boolean()])
      .nullable()
      .meta({ description: "null removes the key" }),
    version: z
      .string()
      .regex(/^[0-9a-f]{64}$/u)
      .optional()
      .meta({ description: "of the file that was looked at; without it nothing is written, and the diff is shown" }),
  })
  .meta({ id: "EditSetting" });

export const editedSettingSchema = z
  .object({
    path: z.string().meta({ description: "the file" }),
    diff: z.string().meta({ description: "empty if the file says so already" }),
    version: z.string(),
    written: z.boolean(),
    approved: z.boolean().meta({ description: "the project's file was approved with this change" }),
  })
  .meta({ id: "EditedSetting" });

export const loginCodeSchema = z
  .object({ code: z.string(), expiresAt: time })
  .meta({ id: "LoginCode", description: "for one login, used as a Bearer token at POST /api/sessions" });

export const newLoginCodeSchema = z
  .strictObject({
    device: z
      .strictObject({
        name: keyName,
        kind: z.enum(["operator", "viewer"]).default("operator"),
        days: z.int().min(1).max(366).default(90),
      })
      .optional()
      .meta({ description: "the login becomes a key of this name, which lasts and can be revoked" }),
  })
  .meta({ id: "NewLoginCode" });

export type NewLoginCode = z.infer<typeof newLoginCodeSchema>;

export const sessionSchema = z
  .object({
    token: z.string(),
    expiresAt: time,
    lasts: z.boolean().meta({ description: "the key of a paired device, which outlives the tab" }),
  })
  .meta({ id: "Session" });
