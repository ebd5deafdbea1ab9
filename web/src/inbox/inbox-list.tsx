// The items that wait, one row each. A long list draws only the rows in view.

import { lazy, type ReactNode, Suspense } from "react";
import { type InboxListProps, InboxRow } from "./inbox-row.tsx";

const ALL_AT_ONCE = 100;
const LongList = lazy(async () => ({ default: (await import("./long-list.tsx")).LongList }));

export function InboxList(props: InboxListProps): ReactNode {
  if (props.items.length <= ALL_AT_ONCE) return <ShortList {...props} />;
  return (
    <Suspense fallback={<ShortList {...props} items={props.items.slice(0, ALL_AT_ONCE)} />}>
      <LongList {...props} />
    </Suspense>
  );
}

function ShortList({ items, ...rest }: InboxListProps): ReactNode {
  return (
    <ul className="flex flex-col gap-1">
      {items.map((item) => (
        <li key={item.id}>
          <InboxRow item={item} {...rest} />
        </li>
      ))}
    </ul>
  );
}
