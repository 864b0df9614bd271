import { type ComponentType, lazy } from "react";
import type { Screen } from "../address/address.ts";
import { loadPart } from "../shared/load-part.ts";
import { UnknownScreen } from "./unknown-screen.tsx";

type Load = () => Promise<{ default: ComponentType }>;

const screen = (load: Load) => lazy(() => loadPart(load));

/** Screens that are loaded on first use. */
export const laterScreens: Record<Exclude<Screen, "overview" | "search">, ComponentType> = {
  dashboards: screen(() => import("../dashboards/dashboards-screen.tsx")),
  errors: screen(() => import("../errors/errors-screen.tsx")),
  alerts: screen(() => import("../alerts/alerts-screen.tsx")),
  saved: screen(() => import("../saved/saved-screen.tsx")),
  keys: screen(() => import("../keys/keys-screen.tsx")),
  usage: screen(() => import("../usage/usage-screen.tsx")),
  health: screen(() => import("../health/health-screen.tsx")),
  settings: screen(() => import("../settings/settings-screen.tsx")),
  members: screen(() => import("../members/members-screen.tsx")),
  unknown: UnknownScreen,
};
