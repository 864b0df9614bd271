import { useRef } from "react";
import { useSession } from "../service/session.ts";
import { IconButton } from "../shared/basic-controls.tsx";
import { Segments } from "../shared/form-fields.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";

const themes = ["system", "light", "dark"] as const;

/** The user, the theme and sign-out. */
export function UserMenu({ onHelp }: { onHelp: () => void }) {
  const session = useSession();
  const claims = session.claims();
  const { theme } = usePreferences();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <div className="user-menu">
      <IconButton icon="help" label={say("Keys and queries")} onClick={onHelp} />
      <IconButton icon="user" label={say("User and display")} popoverTarget="user-menu" />
      <div ref={menu} id="user-menu" popover="auto" className="popover menu">
        <p className="menu-who">
          <strong>{claims?.email ?? say("Signed in")}</strong>
          <code>{claims?.user}</code>
        </p>
        <Segments
          label={say("Theme")}
          choices={themes.map((one) => [one, one])}
          chosen={theme}
          onChoose={(one) => prefer({ theme: one })}
        />
        <button type="button" className="menu-item" onClick={() => session.signOut()}>
          {say("Sign out")}
        </button>
      </div>
    </div>
  );
}
