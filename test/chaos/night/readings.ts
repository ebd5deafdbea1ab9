// What the API, the command line, the ticket files, git and the notices say about each ticket.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { NightReport, NightReportRow } from "../../../src/core/view/night-report.ts";
import type { LooseEnd } from "../../../src/core/view/loose-end.ts";
import type { Got } from "../../../src/notify/receiver.testsuite.ts";
import type { Morning } from "./tickets.ts";
import { git, statusOf, type World } from "./world.ts";

export type Inbox = {
  readonly items: readonly {
    readonly id: string;
    readonly kind: string;
    readonly subject: { readonly id: string };
    readonly asks: readonly string[];
    readonly answers: readonly string[];
  }[];
  readonly looseEnds: readonly LooseEnd[];
};

export type ApiTicket = {
  readonly id: string;
  readonly status: string | null;
  readonly word: string;
  readonly why: string | null;
  readonly file: { readonly status: string; readonly state: string; readonly why: string };
};

export type Readings = {
  readonly world: World;
  readonly inbox: Inbox;
  readonly report: NightReport;
  readonly tickets: readonly ApiTicket[];
  readonly notices: readonly Told[];
};

const SECTIONS = ["landed", "ended", "waiting", "failed", "cannotStart", "goingOn", "later"] as const;

/** Everything that the readings say about one ticket, in the form of the expectation; `cause`: all the words. */
export function morningOf(id: string, { world, inbox, report, tickets, notices }: Readings) {
  const sections = SECTIONS.filter((name) => rowsOf(report, name).some(({ subject }) => subject === id));
  const item = inbox.items.find(({ subject }) => subject.id === id);
  const end = inbox.looseEnds.find(({ ticket }) => ticket === id);
  const row = SECTIONS.flatMap((name) => rowsOf(report, name)).find(({ subject }) => subject === id);
  return {
    status: statusOf(world, id),
    run: tickets.find((ticket) => ticket.id === id)?.status ?? null,
    work: placeOf(world, id),
    report: sections.join(" and "),
    inbox: item?.kind ?? end?.kind ?? null,
    offers: item === undefined ? (end?.verbs.map(({ verb }) => verb) ?? []) : item.answers,
    notices: notices.filter(({ ticket }) => ticket === id).map(({ event }) => event),
    said: { inbox: item?.asks.join("\n") ?? end?.text ?? null, report: row?.text ?? "" },
  } satisfies Omit<Record<keyof Morning, unknown>, "cause"> & { said: unknown };
}

function rowsOf(report: NightReport, name: (typeof SECTIONS)[number]): readonly NightReportRow[] {
  return report[name];
}

function placeOf({ remote }: World, id: string): Morning["work"] {
  const has = (ref: string): boolean =>
    git(remote, "ls-tree", "-r", "--name-only", ref).split("\n").includes(`work/${id}.txt`);
  if (has("main")) return "main";
  const branches = git(remote, "for-each-ref", "--format=%(refname)", `refs/heads/feat/${id}`).split("\n");
  return branches.some((branch) => branch !== "" && has(branch)) ? "branch" : "nowhere";
}

export type Told = { readonly event: string; readonly ticket: string | null; readonly text: string };

/** Each notice once: a receiver knows a repeated one by its id. */
export function toldBy(got: readonly Got[]): readonly Told[] {
  const byId = new Map(got.map((each) => [each.headers["webhook-id"], each]));
  return [...byId.values()].map(({ body }) => {
    const { data } = JSON.parse(body) as { data: { event: string; text: string } };
    const [, ticket = null] =
      /^(?:feature_requests\/FR-1\/)?(AGI-\d+)\b/u.exec(data.text) ?? /: (AGI-\d+) cannot start/u.exec(data.text) ?? [];
    return { event: data.event, ticket, text: data.text };
  });
}

/** What the daemon's log says about tickets, a line each, without the times. */
export function loggedBy({ home }: World): readonly string[] {
  return readFileSync(join(home, "logs", "daemon.log"), "utf8")
    .split("\n")
    .filter((line) => line.includes(" tickets: "))
    .flatMap((line) => line.slice(line.indexOf(" tickets: ") + 10).split(" ⏎ "))
    .map((line) => line.trim());
}
