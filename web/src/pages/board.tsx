import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function BoardPage(): ReactNode {
  return <PageHead title="board" />;
}
