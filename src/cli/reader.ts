// The store, for a command that looks.

import { openForReading } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import type { Io } from "./terminal/io.ts";

/** Opens the store for looking, where there is one, and closes it again. */
export async function withReader<T>(
  io: Pick<Io, "home" | "environment">,
  read: (store: Store | undefined) => Promise<T>,
): Promise<T> {
  const store = await openForReading(io);
  try {
    return await read(store);
  } finally {
    store?.close();
  }
}
