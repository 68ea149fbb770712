import type { ComponentChildren } from "preact";
import { Dialog } from "../dialog.tsx";
import { Form, type FormProps } from "./form.tsx";

interface FormDialogProps extends Omit<FormProps, "onDone" | "onCancel"> {
  readonly title: ComponentChildren;
  /** What is above the form. */
  readonly children?: ComponentChildren;
  /** True if the result replaces the form. */
  readonly staysOpen?: boolean;
  readonly onClose: () => void;
}

/** A dialog with a form. It closes when the action has succeeded. */
export function FormDialog({ title, children, staysOpen, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Form {...form} onDone={() => staysOpen || onClose()} onCancel={onClose} />
    </Dialog>
  );
}
