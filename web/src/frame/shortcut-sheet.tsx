import type { ReactNode } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { keysText, shortcuts } from "../base/keyboard.ts";

/** Lists the shortcuts that work right now. */
export function ShortcutSheet({ close }: { readonly close: () => void }): ReactNode {
  const list = shortcuts();
  const groups = [...new Set(list.map(({ group }) => group))];
  return (
    <Dialog title="Keys" close={close}>
      {groups.map((group) => (
        <section key={group} className="mb-4">
          <h3 className="mb-1 text-xs font-semibold text-muted">{group}</h3>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
            {list
              .filter((each) => each.group === group)
              .map(({ keys, does }) => (
                <div key={keys} className="contents">
                  <dt>
                    <kbd className="rounded border border-line px-1.5 font-mono text-xs">{keysText(keys)}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
