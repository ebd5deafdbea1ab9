// The main pages: their address, name, sign and keys. The navigation and the palette list the same ones.

export const PLACES = [
  { to: "/", name: "Now", sign: "▣", keys: "g i" },
  { to: "/board", name: "Board", sign: "▥", keys: "g b" },
  { to: "/runs", name: "Runs", sign: "▶", keys: "g r" },
  { to: "/tickets", name: "Tickets", sign: "▤", keys: "g t" },
  { to: "/flows", name: "Flows", sign: "⇢", keys: "g f" },
  { to: "/agents", name: "Agents", sign: "☻", keys: "g a" },
  { to: "/workers", name: "Workers", sign: "⚙", keys: "g w" },
  { to: "/projects", name: "Projects", sign: "⌂", keys: "g j" },
  { to: "/insights", name: "Insights", sign: "∑", keys: "g n" },
  { to: "/trust", name: "Trust", sign: "✓", keys: "g p" },
  { to: "/settings", name: "Settings", sign: "≡", keys: "g s" },
] as const;
