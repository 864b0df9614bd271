import {
  type ButtonHTMLAttributes,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { LogloomError } from "../service/logloom.ts";
import { Boundary } from "./boundary.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { say } from "./words.ts";

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  label: string;
}

/** A button with only an icon; its name is its tooltip. */
export function IconButton(
  { icon, label, className = "", ...rest }: IconButtonProps,
) {
  return (
    <button
      type="button"
      className={`icon-button ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Copies a text and says so; without a clipboard it shows the text, selected. */
export function CopyButton({ text, label = say("Copy"), icon = false }: {
  text: string | (() => string);
  label?: string;
  icon?: boolean;
}) {
  const [done, setDone] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    const wanted = typeof text === "string" ? text : text();
    if (await copyText(wanted)) setDone(true);
    else setShown(wanted);
  };
  return (
    <>
      {icon
        ? (
          <IconButton
            icon={done ? "check" : "copy"}
            label={done ? say("Copied") : label}
            onClick={copy}
          />
        )
        : (
          <button type="button" className="button small" onClick={copy}>
            <Icon name={done ? "check" : "copy"} />
            {done ? say("Copied") : label}
          </button>
        )}
      {shown !== null && (
        <CopyByHand
          text={shown}
          onClose={() => setShown(null)}
        />
      )}
    </>
  );
}

/** Whether the clipboard has the text now. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page over plain HTTP has no clipboard, and a browser may refuse it.
    return false;
  }
}

function CopyByHand({ text, onClose }: { text: string; onClose: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <Dialog title={say("Copy it by hand")} onClose={onClose}>
      <p>
        {say("The browser lets this page copy nothing. Press Ctrl+C (on a Mac ⌘C).")}
      </p>
      <textarea
        ref={field}
        className="mono by-hand"
        aria-label={say("The text to copy")}
        readOnly
        value={text}
      />
    </Dialog>
  );
}

/**
 * A native modal dialog. Its buttons and Escape close it, a click outside does not, because it would lose the form. The
 * focus starts in the form and returns to the element that opened the dialog.
 */
export function Dialog({ title, onClose, children, wide = false }: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the element is removed, which would lose the focus of a dialog that is still open.
  useLayoutEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    element?.querySelector<HTMLElement>("form :is(input, textarea, select)")
      ?.focus();
    return () => {
      element?.close();
      giveFocusBack(opener);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        // Cancelling a file choice has an event of the same name, which bubbles.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-inner">
        <header className="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="close" label={say("Close")} onClick={onClose} />
        </header>
        <Boundary what={say("This part")}>{children}</Boundary>
      </div>
    </dialog>
  );
}

/** If the opener is gone, the screen's beginning gets the focus. */
function giveFocusBack(opener: Element | null): void {
  queueMicrotask(() => {
    if (
      document.querySelector("dialog[open]")?.contains(document.activeElement)
    ) return;
    const isThere = opener instanceof HTMLElement && opener.isConnected &&
      opener !== document.body;
    if (isThere) opener.focus();
    if (document.activeElement === document.body && opener !== document.body) {
      document.getElementById("main")?.focus();
    }
  });
}

/** An error where it happened, with its hint. */
export function ErrorNote(
  { error, retry }: { error: unknown; retry?: () => void },
) {
  if (!error) return null;
  const said = error instanceof Error ? error.message : String(error);
  const hint = error instanceof LogloomError ? error.hint : null;
  return (
    <div className="note error" role="alert">
      <p>
        <strong>{said}</strong>
        {hint && <span>&nbsp;{hint}</span>}
      </p>
      {retry && (
        <button type="button" className="button small" onClick={retry}>{say("Try again")}</button>
      )}
    </div>
  );
}

export function Empty(
  { title, children }: { title: string; children?: ReactNode },
) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Placeholder lines while loading. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label={say("Loading")}>
      {Array.from(
        { length: lines },
        (_, i) => <span key={i} className={`bone bone-${i % 4}`} />,
      )}
    </div>
  );
}

export function Badge({ tone, children }: {
  tone: "plain" | "good" | "warn" | "bad" | "info";
  children: ReactNode;
}) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** The header of a screen. */
export function ScreenHead({ title, children, about }: {
  title: string;
  about?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <header className="screen-head">
      <div>
        <h1>{title}</h1>
        {about && <p className="about">{about}</p>}
      </div>
      <div className="screen-actions">{children}</div>
    </header>
  );
}
