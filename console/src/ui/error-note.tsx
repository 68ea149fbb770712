import { explain } from "../service/explain.ts";
import { CopyButton } from "./copy-button.tsx";

/** Shows what has failed, which field is wrong, what to do, and the id of the request. */
export function ErrorNote({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  if (!error) return null;
  const { message, advice, code, requestId, details } = explain(error);
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{message}</strong> {advice}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail.path}>
              <code>{detail.path}</code> {detail.message}
            </li>
          ))}
        </ul>
      )}
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
