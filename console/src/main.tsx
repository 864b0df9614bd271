import { say } from "./shared/translate.ts";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { useAddress } from "./address/address.ts";
import { App } from "./app/app.tsx";
import { loadConfig, StartError } from "./service/config.ts";
import { openSession } from "./signin/open-session.ts";
import { Boundary } from "./shared/error-boundary.tsx";
import { showTheme } from "./shared/preferences.ts";
import "./styles/index.css";

/** After an error the page is rendered again when the address changes. */
function Root({ children }: { children: ReactNode }) {
  return <Boundary what={say("The console")} of={useAddress()}>{children}</Boundary>;
}

const root = createRoot(document.getElementById("root") as HTMLElement);
showTheme();

try {
  const config = await loadConfig();
  const session = await openSession(config);
  root.render(
    <StrictMode>
      <Root>
        <App config={config} session={session} />
      </Root>
    </StrictMode>,
  );
} catch (error) {
  const words = error instanceof StartError ? error.message : say("The console could not start.");
  root.render(
    <main className="start-error">
      <p role="alert">{words}</p>
    </main>,
  );
}
