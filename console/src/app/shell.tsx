import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import { useAddress } from "../address/address.ts";
import { useNotedPlaces } from "../address/last-places.ts";
import { OverviewScreen } from "../overview/overview-screen.tsx";
import { ExportNote } from "../search/export-menu.tsx";
import { allFeatures, FeaturesContext, viewersFeatures } from "../search/reader-features.ts";
import { useMay } from "../service/roles.ts";
import { SearchScreen } from "../search/search-screen.tsx";
import { Boundary } from "../shared/error-boundary.tsx";
import { Button, Empty, Skeleton } from "../shared/basic-controls.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Help } from "./help-dialog.tsx";
import { laterScreens } from "./screens.ts";
import { useShortcuts } from "../shared/shortcuts.ts";
import { loadPart } from "../shared/load-part.ts";
import { VisitNotes } from "./first-visit-notes.tsx";
import { UpdateNote } from "./update-note.tsx";
import { TopBar } from "./top-bar.tsx";
import { titleOf } from "./page-title.ts";
import { say } from "../shared/translate.ts";

const Palette = lazy(() => loadPart(() => import("./palette.tsx")));

/** The frame around every screen: the top bar, notes, help and the palette. */
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
    // Capture the key before the editor, which uses Ctrl+K too.
    document.addEventListener("keydown", listener, true);
    return () => document.removeEventListener("keydown", listener, true);
  }, []);
  useEffect(() => {
    // A dashboard sets its own title.
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
      <TopBar screen={screen} onHelp={() => setHelping(true)} onGo={() => setGoing(true)} />
      <ConnectionNote />
      <UpdateNote />
      <main id="main" tabIndex={-1} className={isSearch ? "screen search-screen" : "screen"}>
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
          <Palette onClose={() => setGoing(false)} onHelp={() => setHelping(true)} />
        </Suspense>
      )}
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </div>
  );
}

/** Shown if the screen cannot load. The top bar stays. */
function BrokenScreen() {
  return (
    <Empty title={say("This screen could not be loaded")}>
      <Button look="primary" onClick={() => location.reload()}>{say("Load the page again")}</Button>
    </Empty>
  );
}
