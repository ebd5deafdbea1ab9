// Every page and its address. The address holds the selection, so that people can share it. The browser loads a page when it opens.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { Failure } from "../ui/states.tsx";
import { fromBoard, fromTickets, WORK_KEYS, type WorkSearch } from "../work/search.ts";
import { Layout } from "./layout.tsx";

const rootRoute = createRootRoute({
  component: Layout,
  errorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
  notFoundComponent: () => <Failure error={new Error("This page does not exist.")} />,
});

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
/** Only the keys that have a text. */
const pick = <K extends string>(search: Record<string, unknown>, ...keys: readonly K[]): { [P in K]?: string } =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = text(search[key]) ?? (typeof search[key] === "number" ? String(search[key]) : undefined);
      return value === undefined ? [] : [[key, value]];
    }),
  ) as { [P in K]?: string };

const now = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: (search: Record<string, unknown>) => pick(search, "item", "kind"),
  component: lazyRouteComponent(() => import("../now/page.tsx"), "NowPage"),
});
const gate = createRoute({
  getParentRoute: () => rootRoute,
  path: "/g/$item",
  component: lazyRouteComponent(() => import("../inbox/gate-page.tsx"), "GatePage"),
});
const work = createRoute({
  getParentRoute: () => rootRoute,
  path: "/work",
  validateSearch: (search: Record<string, unknown>): WorkSearch => pick(search, ...WORK_KEYS),
  component: lazyRouteComponent(() => import("../work/page.tsx"), "WorkPage"),
});
const compare = createRoute({
  getParentRoute: () => rootRoute,
  path: "/compare",
  validateSearch: (search: Record<string, unknown>) => pick(search, "runs"),
  component: lazyRouteComponent(() => import("../compare/page.tsx"), "ComparePage"),
});
// Former pages: links to them are in notes, notifications and bookmarks.
const board = createRoute({
  getParentRoute: () => rootRoute,
  path: "/board",
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/work", search: fromBoard(pick(search, "flow", "ticket")), replace: true });
  },
});
const tickets = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tickets",
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/work", search: fromTickets(pick(search, ...WORK_KEYS, "show")), replace: true });
  },
});
const runs = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs",
  validateSearch: (search: Record<string, unknown>) => pick(search, "status", "flow", "q", "sort"),
  component: lazyRouteComponent(() => import("../runs/list-page.tsx"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run",
  validateSearch: (search: Record<string, unknown>) => pick(search, "tab", "stage", "attempt", "file", "q"),
  component: lazyRouteComponent(() => import("../run/page.tsx"), "RunPage"),
});
const ticket = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tickets/$ticket",
  validateSearch: (search: Record<string, unknown>) => pick(search, "handoff"),
  component: lazyRouteComponent(() => import("../ticket/page.tsx"), "TicketPage"),
});
const flows = createRoute({
  getParentRoute: () => rootRoute,
  path: "/flows",
  component: lazyRouteComponent(() => import("../flow/list-page.tsx"), "FlowsPage"),
});
const flow = createRoute({
  getParentRoute: () => rootRoute,
  path: "/flows/$flow",
  component: lazyRouteComponent(() => import("../flow/page.tsx"), "FlowPage"),
});
const agents = createRoute({
  getParentRoute: () => rootRoute,
  path: "/agents",
  component: lazyRouteComponent(() => import("../agents/page.tsx"), "AgentsPage"),
});
const workers = createRoute({
  getParentRoute: () => rootRoute,
  path: "/workers",
  component: lazyRouteComponent(() => import("../agents/workers-page.tsx"), "WorkersPage"),
});
const projects = createRoute({
  getParentRoute: () => rootRoute,
  path: "/projects",
  component: lazyRouteComponent(() => import("../project/page.tsx"), "ProjectsPage"),
});
const insights = createRoute({
  getParentRoute: () => rootRoute,
  path: "/insights",
  validateSearch: (search: Record<string, unknown>) => pick(search, "by", "since", "pick"),
  component: lazyRouteComponent(() => import("../insights/page.tsx"), "InsightsPage"),
});
const report = createRoute({
  getParentRoute: () => rootRoute,
  path: "/report",
  validateSearch: (search: Record<string, unknown>) => pick(search, "since"),
  component: lazyRouteComponent(() => import("../report/page.tsx"), "ReportPage"),
});
const settings = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  validateSearch: (search: Record<string, unknown>) => pick(search, "tab"),
  component: lazyRouteComponent(() => import("../settings/page.tsx"), "SettingsPage"),
});
const trust = createRoute({
  getParentRoute: () => rootRoute,
  path: "/trust",
  component: lazyRouteComponent(() => import("../trust/page.tsx"), "TrustPage"),
});
const welcome = createRoute({
  getParentRoute: () => rootRoute,
  path: "/welcome",
  component: lazyRouteComponent(() => import("../welcome/page.tsx"), "WelcomePage"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    now,
    gate,
    work,
    compare,
    board,
    runs,
    run,
    tickets,
    ticket,
    flows,
    flow,
    agents,
    workers,
    projects,
    insights,
    report,
    settings,
    trust,
    welcome,
  ]),
  defaultPreload: "intent",
  // If a page fails, the navigation around it stays.
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
  // Every parameter is text. Without the quotation marks around numbers, addresses stay easy to read and type.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined);
    const written = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
    return written === "" ? "" : `?${written}`;
  },
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
