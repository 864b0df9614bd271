import { type KeyboardEvent, useMemo, useState } from "react";
import { usePlaces } from "../address/last-places.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { useSession } from "../service/session.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { mostAtOnce } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import { type Command, commandsOf, found } from "./palette-commands.ts";
import { useScreens } from "./use-screens.ts";
import { useSwitch } from "./tenant-switcher.tsx";

/** Finds screens, searches, dashboards, tenants and settings by name (Ctrl+K). */
export default function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const session = useSession();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const saved = useOperation("list_saved_searches", { p_limit: mostAtOnce });
  const dashboards = useOperation("list_log_dashboards", { p_limit: mostAtOnce });
  const tenants = useOperation("list_log_tenants", { p_limit: mostAtOnce });
  const { switchTo, error, note } = useSwitch();
  const screens = useScreens();
  const places = usePlaces();
  const all = useMemo(() =>
    commandsOf({
      screens,
      places,
      saved: saved.data ?? [],
      dashboards: dashboards.data ?? [],
      tenants: tenants.data ?? [],
      switchTo,
      onHelp,
      signOut: () => void session.signOut(),
    }), [screens, saved.data, dashboards.data, tenants.data]);
  const shown = found(all, typed);
  const active = shown[Math.min(at, shown.length - 1)];
  const run = (command: Command | undefined) => {
    if (!command) return;
    // Switching tenants takes a moment and may be refused, so the palette stays open.
    if (!command.id.startsWith("tenant-")) onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = (Math.min(at, shown.length - 1) + step + shown.length) % shown.length;
      setAt(next);
      document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(active);
    }
  };
  const place = active ? shown.indexOf(active) : -1;
  return (
    <Dialog title={say("Go to")} onClose={onClose}>
      <form className="palette" onSubmit={(event) => event.preventDefault()}>
        <input
          role="combobox"
          aria-label={say("Go to")}
          aria-expanded={shown.length > 0}
          aria-controls="commands"
          aria-activedescendant={place < 0 ? undefined : `command-${place}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder={say("Screen, search, dashboard or tenant")}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <ErrorNote error={error} />
        {note && <p role="status">{note}</p>}
        <ul id="commands" role="listbox" aria-label={say("Found")}>
          {shown.map((command, i) => (
            <li
              key={command.id}
              id={`command-${i}`}
              role="option"
              aria-selected={i === place}
              onClick={() => run(command)}
              onPointerMove={() => setAt(i)}
            >
              <bdi>{command.words}</bdi>
              <span className="about">{command.kind}</span>
            </li>
          ))}
        </ul>
        {shown.length === 0 && <p className="about">{say("Nothing matches")}</p>}
      </form>
    </Dialog>
  );
}
