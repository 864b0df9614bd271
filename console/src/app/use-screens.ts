import { type Screen, screens } from "../address/address.ts";
import { useMay } from "../service/role.ts";

/** What a viewer may read; everything else is refused to them. */
const forViewers: readonly Screen[] = ["overview", "search", "dashboards"];

/** The screens that are offered. */
export function useScreens(): readonly Screen[] {
  return useMay("member") === false ? forViewers : screens;
}
