// The daemon itself: health, settings with their origin, logging in from a browser.

import { z } from "zod";
import { json, time } from "./common.ts";
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

export const settingsSchema = z.object({ settings: z.array(settingSchema) });

export const loginCodeSchema = z
  .object({ code: z.string(), expiresAt: time })
  .meta({ id: "LoginCode", description: "for one login, used as a Bearer token at POST /api/sessions" });

export const sessionSchema = z.object({ token: z.string(), expiresAt: time }).meta({ id: "Session" });
