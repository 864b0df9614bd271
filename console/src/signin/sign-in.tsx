import { Sentence } from "../shared/sentence.tsx";
import { lazy, Suspense, useState } from "react";
import { loadPart } from "../shared/load-part.ts";
import type { Config } from "../service/config.ts";
import type { Session } from "../service/session.ts";
import { TokenSession } from "../service/token-session.ts";
import { Logo } from "../shared/icons.tsx";
import { say } from "../shared/translate.ts";

const SupabaseSignIn = lazy(() => loadPart(() => import("./supabase-sign-in.tsx")));

export function SignIn({ config, session }: { config: Config; session: Session }) {
  return (
    <main className="gate">
      <div className="gate-box">
        <p className="brand">
          <Logo /> logloom
        </p>
        {session.hasEnded() && (
          <p className="note warn" role="alert">
            {say("Your session has ended. Sign in again to continue where you were.")}{" "}
            {session.refusal?.hint ?? session.refusal?.message}
          </p>
        )}
        {session instanceof TokenSession ? <TokenSignIn session={session} /> : (
          <Suspense>
            <SupabaseSignIn config={config} session={session} />
          </Suspense>
        )}
      </div>
    </main>
  );
}

function TokenSignIn({ session }: { session: TokenSession }) {
  const [text, setText] = useState("");
  const [isWrong, setWrong] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setWrong(!session.signIn(text));
      }}
    >
      <h1>{say("Sign in")}</h1>
      <p>
        <Sentence
          text="Open the link that {command} printed, or paste it, or an access token, here."
          values={{ command: <code>npm start</code> }}
        />
      </p>
      <label className="field">
        <span>{say("Link or token")}</span>
        <input
          type="password"
          autoComplete="off"
          value={text}
          aria-invalid={isWrong}
          aria-describedby={isWrong ? "token-wrong" : undefined}
          onChange={(event) => {
            setText(event.target.value);
            setWrong(false);
          }}
          autoFocus
        />
      </label>
      {isWrong && (
        <p id="token-wrong" className="field-error" role="alert">{say("This is not a token.")}</p>
      )}
      <button type="submit" className="button primary">{say("Sign in")}</button>
    </form>
  );
}
