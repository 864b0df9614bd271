import { type ReactNode, useLayoutEffect, useRef } from "react";
import { openDialog } from "../address/address.ts";
import { Boundary } from "./error-boundary.tsx";
import { Button, ErrorNote, IconButton } from "./basic-controls.tsx";
import { say } from "./translate.ts";

/**
 * A native modal dialog. A click outside does not close it, because the form would be lost. The focus starts in the form
 * and returns to the element that opened the dialog.
 */
export function Dialog({ title, onClose, children, size, isBusy = false }: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  size?: "wide" | "full";
  /** True while a request runs: the user cannot close the dialog until its answer arrives. */
  isBusy?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const latest = useRef({ isBusy, onClose });
  latest.current = { isBusy, onClose };
  // Closes the dialog in a layout effect, because removing an open dialog would lose the focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    const observer = new ResizeObserver(() => element && markMore(element));
    for (const one of [element, element?.firstElementChild]) if (one) observer.observe(one);
    element?.querySelector<HTMLElement>("form :is(input, textarea, select)")
      ?.focus();
    const closed = openDialog(() => {
      if (!latest.current.isBusy) latest.current.onClose();
      return !latest.current.isBusy;
    });
    return () => {
      closed();
      observer.disconnect();
      element?.close();
      giveFocusBack(opener);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={size ? `dialog ${size}` : "dialog"}
      aria-label={title}
      onScroll={(event) => markMore(event.currentTarget)}
      onCancel={(event) => {
        // Cancelling a file input sends an event of the same name, which bubbles.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        if (!isBusy) onClose();
      }}
      onClose={() => {
        const element = dialog.current;
        if (!element || element.open) return;
        // Browsers close a dialog without asking after repeated Escape.
        if (isBusy) element.showModal();
        else onClose();
      }}
    >
      <div className="dialog-inner">
        <header className="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="close" label={say("Close")} disabled={isBusy} onClick={onClose} />
        </header>
        <Boundary what={say("This part")}>{children}</Boundary>
      </div>
    </dialog>
  );
}

/** Marks a dialog of which more follows below what is visible. */
function markMore(dialog: HTMLElement): void {
  const below = dialog.scrollHeight - dialog.clientHeight - dialog.scrollTop;
  dialog.toggleAttribute("data-more", below > 8);
}

/** A dialog with one form: its fields, the error and the submit button. */
export function FormDialog(
  { action, tone = "primary", error, isPending, onSubmit, tools, children, ...dialog }:
    & Parameters<typeof Dialog>[0]
    & {
      /** The label of the submit button. */
      action: string;
      tone?: "primary" | "danger";
      error: unknown;
      isPending: boolean;
      onSubmit: (form: HTMLFormElement) => void;
      /** Shown beside the buttons. */
      tools?: ReactNode;
    },
) {
  return (
    <Dialog {...dialog}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) onSubmit(event.currentTarget);
        }}
      >
        {children}
        <ErrorNote error={error} />
        <div className="dialog-actions">
          {tools}
          <Button disabled={dialog.isBusy} onClick={dialog.onClose}>{say("Cancel")}</Button>
          {/* A disabled button would lose the focus. */}
          <button type="submit" className={`button ${tone}`} aria-disabled={isPending}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns the focus to the opener, or to the start of the screen if the opener is gone. */
function giveFocusBack(opener: Element | null): void {
  queueMicrotask(() => {
    if (document.querySelector("dialog[open]")?.contains(document.activeElement)) return;
    const isThere = opener instanceof HTMLElement && opener.isConnected &&
      opener !== document.body;
    if (isThere) opener.focus();
    if (document.activeElement === document.body && opener !== document.body) {
      document.getElementById("main")?.focus();
    }
  });
}
