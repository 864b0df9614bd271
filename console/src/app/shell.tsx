import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import { useAddress } from "../address/address.ts";
import { useNotedPlaces } from "../address/places.ts";
import { OverviewScreen } from "../overview/overview-screen.tsx";
import { ExportNote } from "../search/export-menu.tsx";
import { allFeatures, FeaturesContext, viewersFeatures } from "../search/features.ts";
import { useMay } from "../service/role.ts";
import { SearchScreen } from "../search/search-screen.tsx";
import { Boundary } from "../shared/boundary.tsx";
import { Empty, Skeleton } from "../shared/controls.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Help } from "./help.tsx";
import { laterScreens } from "./screens.ts";
import { useShortcuts } from "../shared/shortcuts.ts";
import { loadPart } from "../shared/update.ts";
import { VisitNotes } from "./visit-notes.tsx";
import { UpdateNote } from "./update-note.tsx";
import { TopBar } from "./top-bar.tsx";
import { titleOf } from "./title.ts";
import { say } from "../shared/words.ts";

const Palette = lazy(() => loadPart(() => import("./palette.tsx")));

/** The frame of every screen: the bar at the top, connection notes, help. */
export function Shell() {
  const { screen, parameters } = useAddress();
  useNotedPlaces();
  const [isHelping, setHelping] = useState(false);
  const [isGoing, setGoing] = useState(false);
  useShortcuts({ "?": () => setHelping(true) });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const isAsked = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) &&
        !event.shiftKey && !event.altKey;
      if (!isAsked || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      setGoing(true);
    };
    // Before the editor, which has a use of its own for it.
    document.addEventListener("keydown", listener, true);
    return () => document.removeEventListener("keydown", listener, true);
  }, []);
  useEffect(() => {
    // A dashboard says its own name.
    if (screen === "dashboards" && parameters.id) return;
    document.title = titleOf({ screen, parameters });
  }, [screen, parameters]);
  const isViewer = useMay("member") === false;
  const isSearch = screen === "search";
  const Screen: ComponentType = isSearch
    ? SearchScreen
    : screen === "overview"
    ? OverviewScreen
    : laterScreens[screen];
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
        {say("Skip to content")}
      </a>
      <TopBar
        screen={screen}
        onHelp={() => setHelping(true)}
        onGo={() => setGoing(true)}
      />
      <ConnectionNote />
      <UpdateNote />
      <main
        id="main"
        tabIndex={-1}
        className={isSearch ? "screen search-screen" : "screen"}
      >
        <Boundary
          key={screen}
          of={parameters}
          what={isSearch ? say("The search") : say("This screen")}
          instead={<BrokenScreen />}
        >
          <Suspense fallback={<Skeleton />}>
            <FeaturesContext value={isViewer ? viewersFeatures : allFeatures}>
              <Screen />
            </FeaturesContext>
          </Suspense>
        </Boundary>
      </main>
      <ExportNote />
      <VisitNotes />
      {isGoing && (
        <Suspense>
          <Palette
            onClose={() => setGoing(false)}
            onHelp={() => setHelping(true)}
          />
        </Suspense>
      )}
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </div>
  );
}

/** The screen failed to load or render: the bar stays. */
function BrokenScreen() {
  return (
    <Empty title={say("This screen could not be loaded")}>
      <button
        type="button"
        className="button primary"
        onClick={() => location.reload()}
      >
        {say("Load the page again")}
      </button>
    </Empty>
  );
}
