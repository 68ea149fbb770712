import { explain } from "../service/explain.ts";
import { CopyButton } from "./copy-button.tsx";
import { wordOf } from "./words.ts";

interface FaultListProps {
  readonly of: readonly { readonly path: string; readonly message: string }[] | undefined;
}

/** The faults of an invalid request. */
export function FaultList({ of }: FaultListProps) {
  if (!of?.length) return null;
  return (
    <ul>
      {of.map(({ path, message }) => (
        <li key={path}>
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  );
}

/** Shows what has failed, which field is wrong, what to do, and the id of the request. */
export function ErrorNote({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  if (!error) return null;
  const { message, advice, code, requestId, details } = explain(error);
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{message}</strong> {advice}
      </p>
      {details?.length ? (
        <ul>
          {details.map((fault) => (
            <li key={fault.path}>
              {wordOf(fault.path.replace(/^\/(body|query)\//, ""))} {fault.message}
            </li>
          ))}
        </ul>
      ) : null}
      <p class="fine">
        {code && <code>{code}</code>}
        {requestId && (
          <span>
            Request <code>{requestId}</code> <CopyButton text={requestId} what="request id" />
          </span>
        )}
        {retry && (
          <button type="button" class="link" onClick={retry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}
