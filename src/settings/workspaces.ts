// Settings for workspaces: the sandbox for a flow that asks for one, and the preparation of a fresh workspace.

import { z } from "zod";
import { DURATION_PATTERN } from "../core/flow/flow-file.ts";

const command = z.array(z.string().min(1)).min(1);
const path = z.string().min(1).max(1000);
const below = path.refine(
  (text) => !/^[/\\~]|[\0\n\\]/u.test(text) && text.split("/").every((part) => !["", ".", "..", ".git"].includes(part)),
  "a plain path below the workspace",
);
const size = z
  .string()
  .regex(/^[1-9][0-9]{0,4}(?:kb|mb|gb)$/u, "a size such as 100mb")
  .refine((text) => bytesOf(text) <= SIZE_AT_MOST, "at most 16gb");

/** More would block a stage for minutes. */
const SIZE_AT_MOST = 16 * 1024 ** 3;

function bytesOf(text: string): number {
  const unit = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }[text.slice(-2)] ?? 1;
  return Number.parseInt(text, 10) * unit;
}

/** auto: the strongest of this machine's own that can be started. */
export const SANDBOXES = ["worktree", "clone", "auto", "bubblewrap", "docker", "podman", "daytona"] as const;
export type Sandbox = (typeof SANDBOXES)[number];

export const workspacesSchema = z.strictObject({
  /** The sandbox for a flow's `mode: sandbox`. */
  sandbox: z.enum(SANDBOXES).optional(),
  /** Run once in a fresh workspace, in order; a failure fails the stage. */
  setup: z.array(command).max(20).optional(),
  /** What `setup` made is kept and copied into the next fresh workspace in which the key's files are the same. */
  setup_cache: z
    .strictObject({
      /** Files of the repository, such as lockfiles, relative to the workspace. */
      key: z.array(below).min(1).max(20),
      /** Folders that the commands make. */
      folders: z.array(below).min(1).max(20),
    })
    .optional(),
  /** Untracked files that a fresh workspace needs, relative to the project: `.env`. Nothing else is copied. */
  copy: z.array(path).max(50).optional(),
  /** Each workspace gets its own block of ports: PORT and PASSRAIL_PORT_BASE. */
  ports: z.strictObject({ first: z.int().min(1024).max(65_000), step: z.int().min(1).max(1000) }).optional(),
  /** Folders shared by all workspaces: variable -> folder below the state folder, for example npm_config_cache. */
  caches: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().regex(/^[a-z0-9][a-z0-9-]{0,40}$/))
    .optional(),
  /** The largest file that Passrail commits, shows or pins. */
  max_file: size.optional(),
  /** The same for all new and changed files of an attempt together. */
  max_work: size.optional(),
  /** Keep workspaces after success, failure and cancel, for inspection. */
  keep: z.boolean().optional(),
  bubblewrap: z
    .strictObject({
      network: z.enum(["on", "off"]).optional(),
      /** In addition to the system's folders. */
      read: z.array(path).max(50).optional(),
      write: z.array(path).max(50).optional(),
      /** Whether the sandbox shows a known agent's login files from the user's home. */
      logins: z.enum(["on", "off"]).optional(),
    })
    .optional(),
  docker: z
    .strictObject({
      image: z.string().min(1).max(300),
      /** host: the machine's own, where Passrail can be reached. */
      network: z.enum(["on", "off", "host"]).optional(),
      options: z.array(z.string()).max(50).optional(),
    })
    .optional(),
  daytona: z
    .strictObject({
      url: z.url().optional(),
      image: z.string().min(1).max(300).optional(),
      /** A snapshot of the account, instead of an image. */
      snapshot: z.string().min(1).max(300).optional(),
      /** The region. */
      target: z.string().min(1).max(100).optional(),
      cpu: z.int().min(1).max(256).optional(),
      /** In GiB. */
      memory: z.int().min(1).max(1024).optional(),
      disk: z.int().min(1).max(4096).optional(),
      network: z.enum(["on", "off"]).optional(),
      /** The desk and the gateway are reached from there, over the vendor's API. */
      reach_passrail: z.enum(["on", "off"]).optional(),
      /** A sandbox may take this long to start, an image build included. */
      start: z.string().regex(DURATION_PATTERN).optional(),
      key_from: z.string().optional(),
    })
    .refine(({ image, snapshot }) => image === undefined || snapshot === undefined, "an image or a snapshot, not both")
    .optional(),
});

export type WorkspaceSettings = z.infer<typeof workspacesSchema> & { readonly sandbox: Sandbox };

export function workLimits(settings: Pick<WorkspaceSettings, "max_file" | "max_work">): {
  readonly fileBytes: number;
  readonly workBytes: number;
} {
  return { fileBytes: bytesOf(settings.max_file ?? "256mb"), workBytes: bytesOf(settings.max_work ?? "2gb") };
}

/** The nearer file wins key by key. */
export function workspaceSettings(files: readonly (z.infer<typeof workspacesSchema> | undefined)[]): WorkspaceSettings {
  const said = files.toReversed().reduce<z.infer<typeof workspacesSchema>>((far, near) => ({ ...far, ...near }), {});
  return { ...said, sandbox: said.sandbox ?? "worktree" };
}
