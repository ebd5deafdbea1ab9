// The six places, their pages, and the keys. The navigation, the palette and the titles read this one table.

type Page = { readonly to: PagePath; readonly name: string; readonly keys: string };
type PagePath =
  | "/"
  | "/runs"
  | "/work"
  | "/flows"
  | "/insights"
  | "/report"
  | "/settings"
  | "/agents"
  | "/workers"
  | "/projects"
  | "/trust";

export type FramePlace = {
  readonly name: string;
  /** The first is where the place leads; further ones are links above the page. */
  readonly pages: readonly [Page, ...Page[]];
};

export const PLACES = [
  { name: "Now", pages: [{ to: "/", name: "Now", keys: "g i" }] },
  { name: "Runs", pages: [{ to: "/runs", name: "Runs", keys: "g r" }] },
  { name: "Work", pages: [{ to: "/work", name: "Work", keys: "g t" }] },
  { name: "Flows", pages: [{ to: "/flows", name: "Flows", keys: "g f" }] },
  {
    name: "Insights",
    pages: [
      { to: "/insights", name: "Insights", keys: "g n" },
      { to: "/report", name: "Report", keys: "g m" },
    ],
  },
  {
    name: "Settings",

    pages: [
      { to: "/settings", name: "Settings", keys: "g s" },
      { to: "/agents", name: "Agents", keys: "g a" },
      { to: "/workers", name: "Workers", keys: "g w" },
      { to: "/projects", name: "Projects", keys: "g j" },
      { to: "/trust", name: "Trust", keys: "g p" },
    ],
  },
] as const satisfies readonly FramePlace[];

export const PAGES: readonly Page[] = PLACES.flatMap(({ pages }): readonly Page[] => pages);

/** Addresses without a page of their own in the navigation. */
const BELONGS: Readonly<Record<string, PagePath>> = { g: "/", tickets: "/work", board: "/work", compare: "/work" };

/** The page that an address belongs to; a run's own page belongs to the runs. */
export function pageAt(path: string): Page | undefined {
  const [, first = ""] = path.split("/");
  return PAGES.find(({ to }) => to === (BELONGS[first] ?? `/${first}`));
}

export function placeAt(path: string): FramePlace | undefined {
  const page = pageAt(path);
  return PLACES.find(({ pages }) => pages.some(({ to }) => to === page?.to));
}
