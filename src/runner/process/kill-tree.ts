// Ends every process of an attempt: those in its cgroup, its group, its session, its descendants, and those with its marker. It signals a
// process only right after it has seen its identity in the table. Out of reach without a cgroup: a process that cleared its environment,
// left the session and lost its parent; strays.ts finds it.

import { setTimeout as delay } from "node:timers/promises";
import { cgroupMembers, cgroupsOf, killCgroup, removeCgroup } from "./cgroup.ts";
import { begunSince, isAlive, listProcesses, markersOf } from "./process-table.ts";
import type { ProcessEntry } from "./process-source.ts";
import { type ProcessIdentity, wholeMarker } from "../runner.ts";

/** How long KILL may take to work before the survivors are reported instead. */
const KILL_PATIENCE_MS = 3_000;

export type TreeEnd = {
  /** Number of processes that were signalled. */
  readonly signalled: number;
  /** Processes that are still alive; normally empty. */
  readonly survivors: readonly number[];
};

/** TERM to the tree of a process that we started, KILL after `graceMs`; resolves when the whole tree is gone. */
export const endTree = (root: ProcessIdentity, graceMs: number): Promise<TreeEnd> =>
  endMembers(() => treeOf(root, { ours: true }), graceMs, root.cgroup);

/**
 * Recovery after a crash: kills the recorded process if it is still the same one, with its group, and every process that carries the
 * marker. Returns how many were killed; never kills by a bare pid.
 */
export const killLeftovers = async (target: ProcessIdentity | { readonly marker: string }): Promise<number> => {
  const end = await endMembers(() => treeOf(target, { ours: false }), 0, cgroupOf(target));
  for (const cgroup of target.marker === "" ? [] : cgroupsOf(target.marker)) {
    const hidden = { pid: 0, startTime: "", marker: "", cgroup };
    await endMembers(() => treeOf(hidden, { ours: false }), 0, cgroup);
  }
  return end.signalled - end.survivors.length;
};

/** Only for our own child whose exit has not been reported yet: no other process can have its number. */
export const killGroup = (groupId: number): void => kill(-groupId, "SIGKILL");

type Tree = {
  readonly members: readonly ProcessEntry[];
  /** The process group that can be signalled as a whole. */
  readonly groupId: number | undefined;
};

const cgroupOf = (target: ProcessIdentity | { readonly marker: string }): string | undefined =>
  "pid" in target ? target.cgroup : undefined;

const endMembers = async (look: () => Tree, graceMs: number, cgroup: string | undefined): Promise<TreeEnd> => {
  const killAt = performance.now() + graceMs;
  const giveUpAt = killAt + KILL_PATIENCE_MS;
  const signalled = new Set<number>();
  for (;;) {
    // Looked up again in every round: processes may have started while others were ending.
    const tree = look();
    const now = performance.now();
    if (tree.members.length === 0) {
      if (cgroup !== undefined) removeCgroup(cgroup);
      return { signalled: signalled.size, survivors: [] };
    }
    if (now > giveUpAt) return { signalled: signalled.size, survivors: tree.members.map(({ pid }) => pid) };
    if (cgroup !== undefined && now >= killAt) killCgroup(cgroup);
    signalTree(tree, now < killAt ? "SIGTERM" : "SIGKILL");
    for (const { pid } of tree.members) signalled.add(pid);
    await untilGone(tree.members, now < killAt ? killAt : now + 500);
  }
};

const treeOf = (target: ProcessIdentity | { readonly marker: string }, options: { readonly ours: boolean }): Tree => {
  const everything = listProcesses();
  const living = everything.filter((entry) => !entry.dead && entry.pid > 1);
  const marked = new Set<number>();
  if (target.marker !== "") {
    const isOf = (marker: string): boolean =>
      options.ours ? marker === target.marker : wholeMarker(marker) === wholeMarker(target.marker);
    // To read an environment takes longer than everything else that is asked about a process, and most are older than ours.
    const read = options.ours ? begunSince(living) : living;
    for (const [pid, marker] of markersOf(read)) if (isOf(marker)) marked.add(pid);
  }
  const cgroup = cgroupOf(target);
  const held = new Set(cgroup === undefined ? [] : cgroupMembers(cgroup));
  const groupId = "pid" in target && holdsGroup(target, everything, marked, options.ours) ? target.pid : undefined;

  const members = new Map<number, ProcessEntry>();
  const belongs = (entry: ProcessEntry): boolean =>
    marked.has(entry.pid) ||
    held.has(entry.pid) ||
    (groupId !== undefined && (entry.pid === groupId || entry.groupId === groupId || entry.sessionId === groupId)) ||
    // A child of a member, or of a group or session that a member leads.
    members.has(entry.parentPid) ||
    members.has(entry.groupId) ||
    members.has(entry.sessionId);
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const entry of living) if (!members.has(entry.pid) && belongs(entry)) members.set(entry.pid, entry);
  }
  return { members: [...members.values()], groupId };
};

// A group keeps its number reserved while it has members, but after the last of them the number may name a stranger's group.
const holdsGroup = (
  root: ProcessIdentity,
  everything: readonly ProcessEntry[],
  marked: ReadonlySet<number>,
  ours: boolean,
): boolean => {
  const leader = everything.find((entry) => entry.pid === root.pid);
  if (leader !== undefined) return leader.startTime === root.startTime;
  return ours || everything.some((entry) => marked.has(entry.pid) && entry.groupId === root.pid);
};

const signalTree = ({ members, groupId }: Tree, signal: "SIGTERM" | "SIGKILL"): void => {
  const grouped = members.filter((entry) => entry.groupId === groupId);
  // As a whole first: the kernel reaches all members at once, so none can fork away in between.
  if (groupId !== undefined && grouped.length > 0) kill(-groupId, signal);
  for (const entry of members) if (!grouped.includes(entry) && isAlive(entry)) kill(entry.pid, signal);
};

const kill = (pid: number, signal: "SIGTERM" | "SIGKILL"): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, or not ours to signal: the next look at the table shows which.
  }
};

const untilGone = async (members: readonly ProcessEntry[], deadline: number): Promise<void> => {
  for (let pauseMs = 5; members.some(isAlive); pauseMs = Math.min(pauseMs * 2, 100)) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return;
    await delay(Math.min(pauseMs, leftMs));
  }
};
