import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function InboxPage(): ReactNode {
  return <PageHead title="inbox" />;
}
