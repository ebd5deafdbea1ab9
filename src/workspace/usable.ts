// What every git workspace gets besides its files, whoever provides it: the work it must contain, copied files, commands that set it up,
// ports, shared caches, and a note in the state folder until it is closed.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { commitLeft, commitsSince, mergeIn } from "../git/branch-work.ts";
import { copyFiles } from "./copy-files.ts";
import type { GitWorkspaces } from "./git-workspaces.ts";
import { type Note, openNotes, workspaceOfNote } from "./notes.ts";
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

export function usable(provider: GitWorkspaces, options: UsableOptions): Workspaces {
  const { home, settings, environment } = options;
  const notes = openNotes(home);
  const inTurn = inTurns();
  /** Whether a fresh workspace is usable only after something was done in it. */
  const needsWork = (settings.copy ?? []).length > 0 || (settings.setup ?? []).length > 0;

  return {
    ...provider,

    async open(request) {
      const key = request.key ?? request.runId;
      const opened = await provider.open(request);
      if (!opened.ok) return opened;
      return inTurn(key, () => prepare(request, opened.value));
    },

    async commit(workspace, message) {
      const place = await provider.place(workspace);
      if (!place.ok) return place;
      const runId = (await notes.read(workspace.key ?? ""))?.runId ?? "";
      return commitLeft(place.value, workspace.branch ?? "", runId, message);
    },

    async commits(workspace, from) {
      const place = await provider.place(workspace);
      return place.ok ? commitsSince(place.value, from) : [];
    },

    async guard(workspace) {
      // Whoever has a repository of its own cannot reach the person's.
      const shared = workspace.mode === "worktree" ? workspace.repository : undefined;
      return shared === undefined ? async () => [] : guardRepository(shared, join(home, "quarantine"));
    },

    async left(runId) {
      const own = (await notes.list()).filter((note) => note.mode === provider.mode);
      const wanted = runId === undefined ? own : own.filter((note) => note.runId === runId);
      return wanted.map((note) => ({ ...workspaceOfNote(note), runId: note.runId }));
    },

    async close(workspace, runId) {
      const closed = await provider.close(workspace, runId);
      // A branch that had gone elsewhere: the work is pinned and the workspace gone all the same.
      if (closed.ok || closed.error.code === "branch_diverged") await notes.remove(workspace.key ?? runId);
      return closed;
    },
  };

  /** Once per workspace what is needed once; an opening that was cut off goes on here. */
  async function prepare(request: WorkspaceRequest, workspace: Workspace): Promise<Result<Workspace>> {
    const key = workspace.key ?? request.runId;
    const known = await notes.read(key);
    const note = known === null ? await firstNote(request, workspace, key) : ok(known);
    return note.ok ? finish(request, workspace, note.value, known === null) : note;
  }

  async function firstNote(request: WorkspaceRequest, workspace: Workspace, key: string): Promise<Result<Note>> {
    // One after the other: two workspaces must not be given the same ports.
    return inTurn(".ports", async () => {
      const port = settings.ports === undefined ? ok(null) : await takeBlock(settings.ports, notes);
      if (!port.ok) return port;
      const { mode, dir, branch, repository } = workspace;
      const note: Note = {
        key,
        runId: request.runId,
        mode,
        dir,
        ...optional({ branch, repository }),
        port: port.value,
        ready: !needsWork,
        openedAt: new Date().toISOString(),
      };
      await notes.write(note);
      return ok(note);
    });
  }

  async function finish(
    request: WorkspaceRequest,
    workspace: Workspace,
    note: Note,
    isFresh: boolean,
  ): Promise<Result<Workspace>> {
    const caches = await openCaches();
    const env = { ...caches, ...portVariables(note.port) };
    const folders = Object.values(caches);
    const given: Workspace = {
      ...workspace,
      ...(Object.keys(env).length === 0 ? {} : { env }),
      ...(folders.length === 0 ? {} : { folders }),
    };
    const made = await makeReady(request, given, note);
    if (made.ok) return ok(given);
    // Nobody has worked here yet, so nobody needs it any more.
    if ((isFresh || !note.ready) && (await provider.close(workspace, request.runId)).ok) await notes.remove(note.key);
    return made;
  }

  async function makeReady(request: WorkspaceRequest, workspace: Workspace, note: Note): Promise<Result<null>> {
    const { contains = [] } = request;
    const { copy = [], setup = [] } = settings;
    const needsPlace = contains.length > 0 || (!note.ready && copy.length > 0);
    const place = needsPlace ? await provider.place(workspace) : err({ code: "not_needed", message: "" });
    if (place.ok) {
      const merged = await mergeIn(place.value, workspace.branch ?? "", contains);
      if (!merged.ok) return merged;
    } else if (needsPlace) return place;
    if (note.ready) return ok(null);
    if (place.ok) {
      const copied = await copyFiles(request.project, workspace.dir, place.value, copy);
      if (!copied.ok) return copied;
    }
    if (setup.length > 0) {
      const done = await runSetup({
        commands: setup,
        workspace,
        confine: provider.confine,
        env: { ...setupEnvironment(environment), ...workspace.env, ...request.env },
        log: join(home, "runs", request.runId, `setup-${note.key}.log`),
        timeoutMs: options.setupMs ?? SETUP_MS,
        ...optional({ signal: request.signal }),
      });
      if (!done.ok) return done;
    }
    await notes.write({ ...note, ready: true });
    return ok(null);
  }

  async function openCaches(): Promise<Record<string, string>> {
    const env: Record<string, string> = {};
    for (const [variable, name] of Object.entries(settings.caches ?? {})) {
      const folder = join(home, "caches", name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      env[variable] = folder;
    }
    return env;
  }

  function portVariables(port: number | null): Record<string, string> {
    if (port === null) return {};
    const count = String(settings.ports?.step ?? 1);
    return { PORT: String(port), PASSRAIL_PORT_BASE: String(port), PASSRAIL_PORT_COUNT: count };
  }
}
