// One entry of the file tree that a program sees inside the sandbox.

export type Mount =
  | { readonly kind: "read" | "write"; readonly source: string; readonly target: string }
  /** A link inside, to another mount. */
  | { readonly kind: "link"; readonly source: string; readonly target: string };
