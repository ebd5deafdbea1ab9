// Prepares the workspaces of every git provider: merges the work they must contain, copies files, runs setup commands, assigns ports and
// shared caches, and keeps a note in the state folder until the workspace is closed.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { commitLeft, commitsSince, mergeIn } from "../git/branch-work.ts";
import { copyFiles } from "./copy-files.ts";
import type { GitWorkspaces } from "./git-workspaces.ts";
import { type Note, type Notes, openNotes, workspaceOfNote } from "./notes.ts";
import { takeBlock } from "./ports.ts";
import { guardRepository } from "./repository-guard.ts";
import { runSetup, setupEnvironment } from "./setup.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import { inTurns } from "./turns.ts";
import type { Workspace, WorkspaceRequest, Workspaces } from "./workspace.ts";
import { optional } from "../core/optional.ts";

export type UsableOptions = {
  readonly home: string;
  readonly settings: WorkspaceSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly setupMs?: number;
};

const SETUP_MS = 15 * 60_000;

/** A provider with everything it needs to prepare its workspaces. */
type Preparing = {
  readonly provider: GitWorkspaces;
  readonly options: UsableOptions;
  readonly notes: Notes;
  readonly inTurn: ReturnType<typeof inTurns>;
};

export function usable(provider: GitWorkspaces, options: UsableOptions): Workspaces {
  const notes = openNotes(options.home);
  const preparing: Preparing = { provider, options, notes, inTurn: inTurns() };
  return {
    ...provider,

    async open(request) {
      const key = request.key ?? request.runId;
      const opened = await provider.open(request);
      if (!opened.ok) return opened;
      return preparing.inTurn(key, () => prepare(preparing, request, opened.value));
    },

    async commit(workspace, message) {
      const checkout = await provider.place(workspace);
      if (!checkout.ok) return checkout;
      const runId = (await notes.read(workspace.key ?? ""))?.runId ?? "";
      return commitLeft(checkout.value, workspace.branch ?? "", runId, message);
    },

    async commits(workspace, from) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? commitsSince(checkout.value, from) : [];
    },

    async guard(workspace) {
      // A workspace with its own repository cannot reach the user's.
      const shared = workspace.mode === "worktree" ? workspace.repository : undefined;
      return shared === undefined ? async () => [] : guardRepository(shared, join(options.home, "quarantine"));
    },

    async left(runId) {
      const own = (await notes.list()).filter((note) => note.mode === provider.mode);
      const wanted = runId === undefined ? own : own.filter((note) => note.runId === runId);
      return wanted.map((note) => ({ ...workspaceOfNote(note), runId: note.runId }));
    },

    async close(workspace, runId) {
      const closed = await provider.close(workspace, runId);
      // The branch had diverged: the work is pinned and the workspace is removed anyway.
      if (closed.ok || closed.error.code === "branch_diverged") await notes.remove(workspace.key ?? runId);
      return closed;
    },
  };
}

/** Does the one-time steps of a workspace; resumes an interrupted opening. */
async function prepare(
  preparing: Preparing,
  request: WorkspaceRequest,
  workspace: Workspace,
): Promise<Result<Workspace>> {
  const { notes } = preparing;
  const key = workspace.key ?? request.runId;
  const known = await notes.read(key);
  const note = known === null ? await firstNote(preparing, request, { ...workspace, key }) : ok(known);
  if (!note.ok) return note;
  const given = await withEnvironment(preparing.options, workspace, note.value);
  const made = await makeReady(preparing, request, given, note.value);
  if (made.ok) return ok(given);
  // No attempt has worked here yet, so removing it loses nothing.
  const isUnused = known === null || !note.value.ready;
  if (isUnused && (await preparing.provider.close(workspace, request.runId)).ok) await notes.remove(key);
  return made;
}

async function firstNote(
  { inTurn, notes, options: { settings } }: Preparing,
  request: WorkspaceRequest,
  workspace: Workspace & { readonly key: string },
): Promise<Result<Note>> {
  // Serialised: two workspaces must not get the same ports.
  return inTurn(".ports", async () => {
    const port = settings.ports === undefined ? ok(null) : await takeBlock(settings.ports, notes);
    if (!port.ok) return port;
    const { key, mode, dir, branch, repository } = workspace;
    const note: Note = {
      key,
      runId: request.runId,
      mode,
      dir,
      ...optional({ branch, repository }),
      port: port.value,
      ready: (settings.copy ?? []).length === 0 && (settings.setup ?? []).length === 0,
      openedAt: new Date().toISOString(),
    };
    await notes.write(note);
    return ok(note);
  });
}

async function withEnvironment(options: UsableOptions, workspace: Workspace, { port }: Note): Promise<Workspace> {
  const caches = await openCaches(options);
  const env = { ...caches, ...portVariables(options.settings, port) };
  const folders = Object.values(caches);
  return {
    ...workspace,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(folders.length === 0 ? {} : { folders }),
  };
}

async function makeReady(
  { provider, options, notes }: Preparing,
  request: WorkspaceRequest,
  workspace: Workspace,
  note: Note,
): Promise<Result<null>> {
  const { contains = [] } = request;
  const { copy = [], setup = [] } = options.settings;
  const needsCheckout = contains.length > 0 || (!note.ready && copy.length > 0);
  const checkout = needsCheckout ? await provider.place(workspace) : err({ code: "not_needed", message: "" });
  if (checkout.ok) {
    const merged = await mergeIn(checkout.value, workspace.branch ?? "", contains);
    if (!merged.ok) return merged;
  } else if (needsCheckout) return checkout;
  if (note.ready) return ok(null);
  if (checkout.ok) {
    const copied = await copyFiles(request.project, workspace.dir, checkout.value, copy);
    if (!copied.ok) return copied;
  }
  if (setup.length > 0) {
    const done = await runSetup({
      commands: setup,
      workspace,
      confine: provider.confine,
      env: { ...setupEnvironment(options.environment), ...workspace.env, ...request.env },
      log: join(options.home, "runs", request.runId, `setup-${note.key}.log`),
      timeoutMs: options.setupMs ?? SETUP_MS,
      ...optional({ signal: request.signal }),
    });
    if (!done.ok) return done;
  }
  await notes.write({ ...note, ready: true });
  return ok(null);
}

async function openCaches({ home, settings }: UsableOptions): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const [variable, name] of Object.entries(settings.caches ?? {})) {
    const folder = join(home, "caches", name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    env[variable] = folder;
  }
  return env;
}

function portVariables({ ports }: WorkspaceSettings, port: number | null): Record<string, string> {
  if (port === null) return {};
  const count = String(ports?.step ?? 1);
  return { PORT: String(port), PASSRAIL_PORT_BASE: String(port), PASSRAIL_PORT_COUNT: count };
}
