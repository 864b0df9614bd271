import type { QueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";
import { go, type Screen, useAddress } from "../address/address.ts";
import { SearchScreen } from "../search/search-screen.tsx";
import { useOperation } from "../service/hooks.ts";
import { useSession } from "../service/session.ts";
import { Boundary } from "../shared/boundary.tsx";
import { Empty, Skeleton } from "../shared/controls.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Help } from "./help.tsx";
import { laterScreens } from "./screens.ts";
import { useShortcuts } from "./shortcuts.ts";
import { UpdateNote } from "./update-note.tsx";
import { UserMenu } from "./user-menu.tsx";

const labels: Record<Screen, string> = {
  search: "Search",
  alerts: "Alerts",
  history: "History",
  saved: "Saved",
  keys: "Keys",
  usage: "Usage",
  health: "Health",
  settings: "Settings",
  members: "Members",
};

/** The frame of every screen: the bar at the top, connection notes, help. */
export function Shell({ queries }: { queries: QueryClient }) {
  // Remove everything that another user was shown.
  useState(() => queries.clear());
  const { screen } = useAddress();
  const [isHelping, setHelping] = useState(false);
  useShortcuts({ "?": () => setHelping(true) });
  useEffect(() => {
    document.title = screen === "search" ? "Logloom" : `${labels[screen]} · Logloom`;
  }, [screen]);
  const Other = screen === "search" ? null : laterScreens[screen];
  return (
    <div className="shell">
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to content
      </a>
      <TopBar screen={screen} onHelp={() => setHelping(true)} />
      <ConnectionNote />
      <UpdateNote />
      <main
        id="main"
        tabIndex={-1}
        className={Other ? "screen" : "screen search-screen"}
      >
        {Other
          ? (
            <Boundary
              key={screen}
              what="This screen"
              instead={<BrokenScreen />}
            >
              <Suspense fallback={<Skeleton />}>
                <Other />
              </Suspense>
            </Boundary>
          )
          : (
            <Boundary what="The search" instead={<BrokenScreen />}>
              <SearchScreen />
            </Boundary>
          )}
      </main>
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </div>
  );
}

/** The screen failed to load or render: the bar stays. */
function BrokenScreen() {
  return (
    <Empty title="This screen could not be loaded">
      <button
        type="button"
        className="button primary"
        onClick={() => location.reload()}
      >
        Load the page again
      </button>
    </Empty>
  );
}

function TopBar({ screen, onHelp }: { screen: Screen; onHelp: () => void }) {
  const tenant = useSession().claims()?.tenant ?? "";
  const open = useOperation("list_alert_history", {
    p_acknowledged: false,
    p_limit: 100,
  }, { every: 60_000 });
  const waiting = open.data?.length ?? 0;
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the names do not all fit.
  useEffect(() => {
    const current = nav.current?.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [screen, waiting]);
  return (
    <header className="top-bar">
      <span className="brand">
        <img src="./icon.svg" alt="" width="18" height="18" />
        <span className="brand-name">logloom</span>
      </span>
      <span className="tenant" title={`Tenant ${tenant}`}>
        <bdi>{tenant}</bdi>
      </span>
      <nav ref={nav} className="nav" aria-label="Screens">
        {(Object.keys(labels) as Screen[]).map((name) => (
          <a
            key={name}
            href={name === "search" ? "#" : `#/${name}`}
            aria-current={name === screen ? "page" : undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              go({ screen: name, parameters: {} });
            }}
          >
            {labels[name]}
            {name === "history" && waiting > 0 && (
              <span className="count-badge">
                {waiting > 99 ? "99+" : waiting}
                <span className="hidden">not acknowledged</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <UserMenu onHelp={onHelp} />
    </header>
  );
}
