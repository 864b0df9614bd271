import { type MouseEvent, useId, useRef } from "react";
import { go, type Screen, useAddress, writeAddress } from "../address/address.ts";
import { usePlaces } from "../address/last-places.ts";
import { useIsNarrow } from "../shared/use-is-narrow.ts";
import { Icon, Logo } from "../shared/icons.tsx";
import { useUnresolvedIncidents } from "../shared/incident-parts.tsx";
import { say } from "../shared/translate.ts";
import { ZoneSwitch } from "../shared/zone-switch.tsx";
import { labels } from "./page-title.ts";
import { useScreens } from "./use-screens.ts";
import { TenantSwitcher } from "./tenant-switcher.tsx";
import { UserMenu } from "./user-menu.tsx";

/** The bar with the tenant, the screens, the palette and the user menu. */
export function TopBar({ screen, onHelp, onGo }: {
  screen: Screen;
  onHelp: () => void;
  onGo: () => void;
}) {
  const isNarrow = useIsNarrow();
  const hasMenu = useIsNarrow("links");
  return (
    <header className="top-bar">
      {hasMenu && <NavMenu screen={screen} />}
      <span className="brand">
        <Logo />
        <span className="brand-name">logloom</span>
      </span>
      <TenantSwitcher />
      {hasMenu ? <span className="spring" /> : (
        <nav className="nav" aria-label={say("Screens")}>
          <NavLinks screen={screen} />
        </nav>
      )}
      <ZoneSwitch />
      <button type="button" className="button small palette-button" onClick={onGo}>
        <Icon name="search" />
        {isNarrow ? <span className="hidden">{say("Search or jump to…")}</span> : (
          <>
            {say("Search or jump to…")} <kbd>Ctrl K</kbd>
          </>
        )}
      </button>
      <UserMenu onHelp={onHelp} />
    </header>
  );
}

/** The menu of screens on a narrow page. Its button names the current screen. */
function NavMenu({ screen }: { screen: Screen }) {
  const id = useId();
  const menu = useRef<HTMLElement>(null);
  return (
    <>
      <button type="button" className="button nav-button" popoverTarget={id}>
        <Icon name="fields" />
        <span className="hidden">{say("Screens")}:</span>
        {say(labels[screen])}
      </button>
      <nav
        ref={menu}
        id={id}
        popover="auto"
        className="popover nav-menu"
        aria-label={say("Screens")}
      >
        <NavLinks screen={screen} onGo={() => menu.current?.hidePopover()} />
      </nav>
    </>
  );
}

/** Links to the screens as you left them. The current screen's link resets it. */
function NavLinks({ screen, onGo }: { screen: Screen; onGo?: () => void }) {
  useAddress();
  const places = usePlaces();
  const screens = useScreens();
  const incidents = useUnresolvedIncidents().data ?? [];
  const waiting = incidents.filter(({ state }) => state === "open").length;
  const place = (name: Screen) =>
    name === screen ? { screen: name, parameters: {} } : places.last(name);
  const onClick = (event: MouseEvent, name: Screen) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(place(name));
    onGo?.();
  };
  return screens.map((name) => (
    <a
      key={name}
      href={writeAddress(place(name))}
      aria-current={name === screen ? "page" : undefined}
      onClick={(event) => onClick(event, name)}
    >
      {say(labels[name])}
      {name === "alerts" && waiting > 0 && (
        <span className="count-badge">
          {waiting > 99 ? "99+" : waiting}
          <span className="hidden">{say("open incidents")}</span>
        </span>
      )}
    </a>
  ));
}
