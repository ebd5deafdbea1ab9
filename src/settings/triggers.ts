// Triggers that start a flow automatically: a schedule, a changed file, a labelled issue.

import { z } from "zod";
import { settingsDuration } from "./duration.ts";

const shared = {
  /** Unique; names the trigger in runs and logs. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,47}$/),
  flow: z.string().min(1).max(48),
  /** May hold {file}, {issue.number}, {issue.title}, {time}. */
  title: z.string().min(1).max(200).optional(),
  body: z.string().max(20_000).optional(),
  input: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
};

export const triggersSchema = z
  .array(
    z.union([
      z.strictObject({ ...shared, schedule: z.string().min(1).max(100), timezone: z.string().max(60).optional() }),
      /** Globs relative to the project. */
      z.strictObject({ ...shared, files: z.array(z.string().min(1).max(300)).min(1).max(20) }),
      z.strictObject({
        ...shared,
        github_issue: z.strictObject({
          label: z.string().min(1).max(100),
          repo: z
            .string()
            .regex(/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/)
            .optional(),
          /** Only issues of these authors; default: everyone with write access. */
          authors: z.array(z.string().min(1).max(60)).optional(),
          every: settingsDuration.refine((text) => /[0-9](s|m|h)$/u.test(text), { message: "in s, m or h" }).optional(),
        }),
      }),
    ]),
  )
  .max(50);

export type TriggerSettings = z.infer<typeof triggersSchema>[number];
export type ScheduleSettings = Extract<TriggerSettings, { schedule: string }>;
export type FilesSettings = Extract<TriggerSettings, { files: string[] }>;
export type IssueSettings = Extract<TriggerSettings, { github_issue: unknown }>;
