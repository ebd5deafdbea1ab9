// The items that need a person, one row each. A long list draws only the rows in view.

import { lazy, type ReactNode, Suspense } from "react";
import { EndRow } from "./end-row.tsx";
import { ItemRow } from "./item-row.tsx";
import type { Need } from "./needs.ts";
import type { RowProps } from "./row.ts";

const ALL_AT_ONCE = 100;
const LongList = lazy(async () => ({ default: (await import("./long-list.tsx")).LongList }));

export type NeedListProps = RowProps & { readonly needs: readonly Need[] };

export function NeedList(props: NeedListProps): ReactNode {
  if (props.needs.length <= ALL_AT_ONCE) return <ShortList {...props} />;
  const row = (need: Need): ReactNode => <NeedRow need={need} {...props} />;
  return (
    <Suspense fallback={<ShortList {...props} needs={props.needs.slice(0, ALL_AT_ONCE)} />}>
      <LongList needs={props.needs} selected={props.selected} row={row} />
    </Suspense>
  );
}

function ShortList({ needs, ...rest }: NeedListProps): ReactNode {
  return (
    <ul className="flex flex-col gap-1">
      {needs.map((need) => (
        <li key={need.id}>
          <NeedRow need={need} {...rest} />
        </li>
      ))}
    </ul>
  );
}

function NeedRow({ need, selected, isWide, onOpen }: RowProps & { readonly need: Need }): ReactNode {
  const rest = { selected, isWide, onOpen };
  return need.is === "item" ? <ItemRow item={need.item} {...rest} /> : <EndRow need={need} {...rest} />;
}
