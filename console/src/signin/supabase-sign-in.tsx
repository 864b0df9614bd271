import { Sentence } from "../shared/sentence.tsx";
import { type FormEvent, useState } from "react";
import type { Config } from "../service/config.ts";
import type { Session } from "../service/session.ts";
import { returnAddress, SupabaseSession } from "./supabase-session.ts";
import { TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";

/** Sign-in with a password, a link by email, or an OAuth provider. */
export default function SupabaseSignIn({ config, session }: { config: Config; session: Session }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [wrong, setWrong] = useState<string | null>(() => errorInAddress());
  const [sent, setSent] = useState(false);
  const [isBusy, setBusy] = useState(false);
  if (!(session instanceof SupabaseSession)) return null;
  const { auth } = session;

  /** Runs an action, shows its error, and returns whether it succeeded. */
  const attempt = async (action: () => Promise<{ error: { message: string } | null }>) => {
    setBusy(true);
    setWrong(null);
    const { error } = await action();
    setBusy(false);
    setWrong(error?.message ?? null);
    return error === null;
  };
  const byPassword = (event: FormEvent) => {
    event.preventDefault();
    void attempt(() => auth.signInWithPassword({ email, password }));
  };
  const byLink = async () => {
    const isSent = await attempt(() =>
      auth.signInWithOtp({
        email,
        options: { emailRedirectTo: returnAddress(), shouldCreateUser: false },
      })
    );
    setSent(isSent);
  };
  const byProvider = (provider: string) =>
    void attempt(() =>
      auth.signInWithOAuth({
        provider: provider as "github",
        options: { redirectTo: returnAddress() },
      })
    );

  if (sent) {
    return (
      <div role="status">
        <h1>{say("Check your email")}</h1>
        <p>
          <Sentence
            text="A link that signs you in is on its way to {email}. Open it in this browser."
            values={{ email }}
            strong
          />
        </p>
        <Button onClick={() => setSent(false)}>{say("Back")}</Button>
      </div>
    );
  }
  return (
    <form onSubmit={byPassword}>
      <h1>{say("Sign in")}</h1>
      <TextField
        label={say("Email")}
        type="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onChange={setEmail}
      />
      <TextField
        label={say("Password")}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
      />
      {wrong && <p className="field-error" role="alert">{wrong}</p>}
      <button type="submit" className="button primary" disabled={isBusy}>{say("Sign in")}</button>
      <Button disabled={isBusy || !email.includes("@")} onClick={() => void byLink()}>
        {say("Send me a link instead")}
      </Button>
      {config.providers.length > 0 && <p className="or-line">{say("or")}</p>}
      {config.providers.map((provider) => (
        <Button
          key={provider}
          disabled={isBusy}
          onClick={() => byProvider(provider)}
        >
          {say("Continue with {provider}", { provider })}
        </Button>
      ))}
    </form>
  );
}

/** The error that Auth puts into the address after an expired link or a provider's refusal. */
function errorInAddress(): string | null {
  const hash = location.hash.replace(/^#/, "");
  const said = new URLSearchParams(location.search).get("error_description") ??
    new URLSearchParams(hash).get("error_description");
  if (said !== null) history.replaceState(null, "", location.pathname);
  return said;
}
