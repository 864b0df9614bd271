import { type Screen, screens } from "../address/address.ts";
import { useMay } from "../service/roles.ts";

/** The screens that a viewer may read. */
const forViewers: readonly Screen[] = ["overview", "search", "dashboards", "errors"];

/** The screens of the current user. */
export function useScreens(): readonly Screen[] {
  return useMay("member") === false ? forViewers : screens;
}
