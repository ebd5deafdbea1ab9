// Where messages are shown. Base UI's toast draws and announces them; its code comes while the browser is idle, or with the first message.

import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { whenIdle } from "../base/prefetch.ts";
import { SafeText } from "./safe-text.tsx";
import { waitingMessages, watchMessages } from "./toast.ts";

/** A message must not be lost because the daemon, which has the code, is away. */
const List = lazy(() =>
  import("./toast-list.tsx").then(
    ({ ToastList }) => ({ default: ToastList }),
    () => ({ default: Plain }),
  ),
);

export function Toasts(): ReactNode {
  const [isWanted, setWanted] = useState(false);
  const isWaiting = useSyncExternalStore(watchMessages, () => waitingMessages().length > 0);
  // A region that was there before its first message is announced by every screen reader.
  useEffect(() => whenIdle(() => setWanted(true)), []);
  if (isWaiting && !isWanted) setWanted(true);
  return <Suspense>{isWanted && <List />}</Suspense>;
}

function Plain(): ReactNode {
  const last = useSyncExternalStore(watchMessages, () => waitingMessages().at(-1));
  if (last === undefined) return null;
  return (
    <p role="status" className="fixed bottom-4 left-4 z-50 max-w-96 rounded-md border border-line bg-panel p-3 text-sm">
      <SafeText max={300}>{last.text}</SafeText>
    </p>
  );
}
