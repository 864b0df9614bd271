import { change, go, type Screen } from "../address/address.ts";
import type { Places } from "../address/last-places.ts";
import { rankOf } from "../language/match-rank.ts";
import { placeOf } from "../saved/saved-display.ts";
import type { LogDashboard, LogTenant, SavedSearch } from "../service/logloom.ts";
import { prefer } from "../shared/preferences.ts";
import { oneLine } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { labels } from "./page-title.ts";

export interface Command {
  id: string;
  words: string;
  /** The kind, shown beside the name. */
  kind: string;
  run: () => void;
}

const tabs = [
  ["Ingest rules", "rules"],
  ["Log streams", "streams"],
  ["Archive", "archive"],
] as const;

/** The palette's entries: screens, saved searches, dashboards, tenants and settings. */
export function commandsOf(
  { screens, places, saved, dashboards, tenants, switchTo, onHelp, signOut }: {
    screens: readonly Screen[];
    places: Places;
    saved: SavedSearch[];
    dashboards: LogDashboard[];
    tenants: LogTenant[];
    switchTo: (tenantId: string) => void;
    onHelp: () => void;
    signOut: () => void;
  },
): Command[] {
  const screen = (name: Screen): Command => ({
    id: `screen-${name}`,
    words: say(labels[name]),
    kind: say("Screen"),
    run: () => go(places.last(name)),
  });
  const choice = (words: string, run: () => void): Command => ({
    id: `choice-${words}`,
    words,
    kind: say("Choice"),
    run,
  });
  return [
    ...screens.map(screen),
    ...saved.map((one) => ({
      id: `saved-${one.id}`,
      words: oneLine(one.name, 100),
      kind: say("Saved search"),
      run: () => go({ screen: "search", parameters: placeOf(one) }),
    })),
    ...dashboards.map((one) => ({
      id: `dashboard-${one.dashboard_id}`,
      words: oneLine(one.name, 100),
      kind: say("Dashboard"),
      run: () => go({ screen: "dashboards", parameters: { id: one.dashboard_id } }),
    })),
    ...tenants.filter(({ is_current }) => !is_current).map(({ tenant_id }) => ({
      id: `tenant-${tenant_id}`,
      words: oneLine(tenant_id, 100),
      kind: say("Switch tenant"),
      run: () => switchTo(tenant_id),
    })),
    ...(screens.includes("settings") ? tabs : []).map(([words, tab]) => ({
      id: `tab-${tab}`,
      words: say(words),
      kind: say("Screen"),
      run: () => go({ screen: "settings", parameters: { tab } }),
    })),
    choice(say("Follow new records live"), () => {
      go(places.last("search"));
      change({ live: "1" });
    }),
    choice(say("Theme: dark"), () => prefer({ theme: "dark" })),
    choice(say("Theme: light"), () => prefer({ theme: "light" })),
    choice(say("Times in UTC"), () => prefer({ zone: "utc" })),
    choice(say("Local times"), () => prefer({ zone: "local" })),
    choice(say("Keys and queries"), onHelp),
    choice(say("Sign out"), signOut),
  ];
}

/** The commands that match, best match first. */
export function found(commands: Command[], typed: string): Command[] {
  const wanted = typed.trim();
  return commands.flatMap((command, at) => {
    const rank = rankOf(command.words, wanted);
    return rank === null ? [] : [{ command, rank, at }];
  })
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .slice(0, 50)
    .map(({ command }) => command);
}
