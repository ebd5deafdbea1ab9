// Prepares the workspaces of every git provider: merges the work they must contain, copies files, runs setup commands, assigns ports and
// shared caches, and keeps a note in the state folder until the workspace is closed.

import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { commitLeft, commitsSince, fastForward, isCommitId, mergeIn, syncBranch } from "../git/branch-work.ts";
import { setAsideWork } from "../git/set-aside.ts";
import { pinCommit } from "../git/pin.ts";
import { bringBack } from "./bring-back.ts";
import { bringIn } from "./bring-in.ts";
import { resolveCommits } from "../git/repository.ts";
import { fileInCommit, goBackTo, linesInCommit, restoreTracked, treeState } from "../git/tree-state.ts";
import { copyFiles } from "./copy-files.ts";
import { openJoint, publishJoint } from "./joint-repository.ts";
import { claimBranch } from "./made-branches.ts";
import type { GitWorkspaces } from "./git-workspaces.ts";
import { keptSetup } from "./kept-setup.ts";
import { type Note, type Notes, openNotes, workspaceOfNote } from "./notes.ts";
import { takeBlock } from "./ports.ts";
import type { RepositoryGuard } from "./repository-guard.ts";
import { runSetup, setupEnvironment } from "./setup.ts";
import { workLimits, type WorkspaceSettings } from "../settings/workspaces.ts";
import { type InTurn, inTurns } from "./turns.ts";
import type { Workspace, WorkspaceRequest, Workspaces } from "./workspace.ts";
import { optional } from "../core/optional.ts";

export type UsableOptions = {
  readonly home: string;
  readonly settings: WorkspaceSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly setupMs?: number;
  readonly guard: RepositoryGuard;
};

const SETUP_MS = 15 * 60_000;

/** A provider with everything it needs to prepare its workspaces. */
type Preparing = {
  readonly provider: GitWorkspaces;
  readonly options: UsableOptions;
  readonly notes: Notes;
  readonly inTurn: InTurn;
  /** Inside another turn. */
  readonly portsInTurn: InTurn;
};

export function usable(provider: GitWorkspaces, options: UsableOptions): Workspaces {
  const notes = openNotes(options.home);
  const preparing: Preparing = {
    provider,
    options,
    notes,
    inTurn: inTurns(join(options.home, "locks", "workspaces")),
    portsInTurn: inTurns(join(options.home, "locks", "ports")),
  };
  return {
    ...provider,

    open: (request) => openPrepared(preparing, request),
    unlockBranch: (request) => unlockBranch(preparing, request),

    async publish(workspace, runId) {
      const published = (await provider.publish?.(workspace, runId)) ?? ok(null);
      const { joint, branch } = workspace;
      if (!published.ok || joint === undefined || branch === undefined) return published;
      const work = () => publishJoint(joint, joint.project, { branch, runId });
      const tips = await preparing.inTurn(joint.folder, work);
      return tips.ok ? ok({ repositories: tips.value.map((tip) => ({ ...tip })) }) : tips;
    },

    async commit(workspace, message, how = {}) {
      const checkout = await provider.place(workspace);
      if (!checkout.ok) return checkout;
      const runId = (await notes.read(workspace.key ?? ""))?.runId ?? "";
      const limits = workLimits(options.settings);
      const work = { branch: workspace.branch ?? "", runId, message, limits, ...how };
      // Tracks of one run may end at the same moment.
      return preparing.inTurn(workspace.key ?? runId, () => commitLeft(checkout.value, work));
    },

    async setAside(workspace, runId, from) {
      const checkout = await provider.place(workspace);
      if (!checkout.ok) return checkout;
      const work = { branch: workspace.branch ?? "", runId, from, limits: workLimits(options.settings) };
      const key = workspace.key ?? runId;
      const aside = await preparing.inTurn(key, () => setAsideWork(checkout.value, work));
      const { repository } = workspace;
      if (!aside.ok || repository === undefined || repository === checkout.value.commonDir)
        return aside.ok ? ok(aside.value.ref) : aside;
      // A clone has a repository of its own, which goes with it.
      const home = { place: checkout.value, key, repository, branch: work.branch, runId };
      const brought = await bringBack(home, [aside.value.commit]);
      return brought.ok ? pinCommit(repository, runId, aside.value.commit) : brought;
    },

    advance: (workspace, to) => advance(preparing, workspace, to),

    ...history(provider),
    ...trees(provider),

    async guard(workspace) {
      // A workspace with its own repository cannot reach the user's.
      const shared = workspace.mode === "worktree" ? workspace.repository : undefined;
      if (shared === undefined) return ok(async () => ({ tampered: [], warnings: [] }));
      return options.guard.begin(shared, workspace.branch ?? null);
    },

    async left(runId) {
      const own = (await notes.list()).filter((note) => note.mode === provider.mode);
      const wanted = runId === undefined ? own : own.filter((note) => note.runId === runId);
      return wanted.map((note) => ({ ...workspaceOfNote(note), runId: note.runId }));
    },

    async close(workspace, runId, how) {
      const closed = await provider.close(workspace, runId, how);
      // The branch had diverged: the work is pinned and the workspace is removed anyway.
      if (closed.ok || closed.error.code === "branch_diverged") await notes.remove(workspace.key ?? runId);
      return closed;
    },
  };
}

async function openPrepared(preparing: Preparing, request: WorkspaceRequest): Promise<Result<Workspace>> {
  const { provider, options, notes } = preparing;
  const key = request.key ?? request.runId;
  const place = await placeOf(preparing, request);
  if (!place.ok) return place;
  // A workspace that is open has passed this before.
  if ((await notes.read(key)) === null) {
    const home = await openHome(options.home);
    for (const claim of [place.value, ...memberClaims(request)]) {
      const claimed = await claimBranch(home, claim);
      if (!claimed.ok) return claimed;
    }
  }
  const opened = await provider.open(place.value);
  if (!opened.ok) return opened;
  return preparing.inTurn(key, () => prepare(preparing, request, withMembers(opened.value, request)));
}

async function unlockBranch(preparing: Preparing, request: WorkspaceRequest): Promise<void> {
  const place = await placeOf(preparing, request);
  if (place.ok) await preparing.provider.unlockBranch?.(place.value);
}

/** The request as providers see it: the joint repository is a project like any other, and its first commit is checked out. */
async function placeOf(
  { inTurn }: Preparing,
  { joint, ...request }: WorkspaceRequest,
): Promise<Result<WorkspaceRequest>> {
  if (joint === undefined) return ok(request);
  const made = await inTurn(joint.folder, () => openJoint(joint, request.project));
  return made.ok ? ok({ ...request, project: joint.folder }) : made;
}

/** Members get a branch of the same name, which must be free there: its commits would not be part of the joint history. */
function memberClaims({ joint, project, adopts: _adopts, ...request }: WorkspaceRequest): readonly WorkspaceRequest[] {
  if (joint?.branch !== request.branch) return [];
  return (joint?.members ?? []).map(({ dir }) => ({ ...request, project: join(project, dir) }));
}

function withMembers(workspace: Workspace, { joint, project }: WorkspaceRequest): Workspace {
  return joint === undefined || joint.branch !== workspace.branch
    ? workspace
    : { ...workspace, joint: { ...joint, project } };
}

async function advance({ provider, inTurn }: Preparing, workspace: Workspace, to: string): Promise<Result<null>> {
  const checkout = await provider.place(workspace);
  if (!checkout.ok) return checkout;
  return inTurn(workspace.key ?? "", () => fastForward(checkout.value, workspace.branch ?? "", to));
}

/** The work of an attempt, as commits. */
function history(provider: GitWorkspaces): Pick<Workspaces, "commits" | "sync"> {
  return {
    async commits(workspace, from) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? commitsSince(checkout.value, from) : [];
    },

    async sync(workspace, from) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? syncBranch(checkout.value, from) : checkout;
    },
  };
}

/** What checks need: the tree that the files show, and the way back to it. */
function trees(provider: GitWorkspaces): Pick<Workspaces, "tree" | "lines" | "file" | "restore" | "undo"> {
  return {
    async tree(workspace) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? treeState(checkout.value) : checkout;
    },

    async lines(workspace, commit, paths) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? linesInCommit(checkout.value, workspace.dir, { commit, paths }) : checkout;
    },

    async file(workspace, commit, path) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? fileInCommit(checkout.value, workspace.dir, { commit, path }) : checkout;
    },

    async restore(workspace) {
      const checkout = await provider.place(workspace);
      return checkout.ok ? restoreTracked(checkout.value) : checkout;
    },

    async undo(workspace, to, runId) {
      const checkout = await provider.place(workspace);
      if (!checkout.ok) return checkout;
      const { commonDir, top } = checkout.value;
      const head = await resolveCommits(top, ["HEAD"], { place: checkout.value });
      if (!head.ok) return head;
      const pinned = await pinCommit(commonDir, runId, head.value[0] ?? to);
      if (!pinned.ok) return pinned;
      const back = await goBackTo(checkout.value, to);
      return back.ok ? pinned : back;
    },
  };
}

/** Notes are written below the real path. */
async function openHome(home: string): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  return realpath(home);
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
  { portsInTurn, notes, options: { settings } }: Preparing,
  request: WorkspaceRequest,
  workspace: Workspace & { readonly key: string },
): Promise<Result<Note>> {
  // Serialised: two workspaces must not get the same ports.
  return portsInTurn(".ports", async () => {
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
  const needsCheckout =
    contains.length > 0 || (!note.ready && (copy.length > 0 || options.settings.setup_cache !== undefined));
  const checkout = needsCheckout ? await provider.place(workspace) : err({ code: "not_needed", message: "" });
  if (checkout.ok) {
    const from = request.joint?.folder ?? request.project;
    const brought = await bringIn(checkout.value, from, contains.filter(isCommitId));
    if (!brought.ok) return brought;
    const merged = await mergeIn(checkout.value, workspace.branch ?? "", contains);
    if (!merged.ok) return merged;
  } else if (needsCheckout) return checkout;
  if (note.ready || request.withoutSetup === true) return ok(null);
  if (checkout.ok) {
    const copied = await copyFiles(request.project, workspace.dir, checkout.value, copy);
    if (!copied.ok) return copied;
  }
  if (setup.length > 0) {
    const env = { ...setupEnvironment(options.environment), ...workspace.env, ...request.env };
    const { home, settings } = options;
    const place = { home, settings, project: request.project, workspace, path: env["PATH"] ?? "" };
    const kept = checkout.ok ? await keptSetup({ ...place, checkout: checkout.value }) : undefined;
    if ((await kept?.take()) !== true) {
      const done = await runSetup({
        commands: setup,
        workspace,
        confine: provider.confine,
        env,
        log: join(home, "runs", request.runId, `setup-${note.key}.log`),
        timeoutMs: options.setupMs ?? SETUP_MS,
        ...optional({ signal: request.signal }),
      });
      if (!done.ok) return done;
      await kept?.keep();
    }
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
