import type { SandboxReset, Sandbox as SandboxState } from "petstore-client";
import { useState } from "preact/hooks";
import { resetSandboxBody, simulations } from "../generated/contract.ts";
import { baseUrl, Link } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { restartAtEnd } from "../service/live.ts";
import { invalidate, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Facts } from "../ui/facts.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Select } from "../ui/select.tsx";
import { Countdown } from "../ui/time.tsx";
import { say } from "../ui/toasts.tsx";
import { countOf, durationOf, numberOf } from "../ui/words.ts";

/** Steps that are offered, in seconds. */
const steps = [60, 900, 3_600, 86_400, 2_592_000];

/** The sandbox: its contents, what waits in it, and its reset. */
export function Sandbox() {
  const may = useMay();
  const { petstore } = useSession();
  const query = useQuery("sandbox", () => petstore.getSandbox());
  const [isResetting, setResetting] = useState(false);
  return (
    <Page
      title="Sandbox"
      actions={
        may("resetSandbox") && (
          <button type="button" class="bad" onClick={() => setResetting(true)}>
            Reset
          </button>
        )
      }
    >
      <Loading of={query} />
      {query.data && <SandboxDetails of={query.data} />}
      {may("updatePet") && <Simulate />}
      {isResetting && <Reset onClose={() => setResetting(false)} />}
    </Page>
  );
}

const textOf = (kind: string) => kind.replace("_", " ");
const secondsUntil = (time: string) => Math.max(1, Math.ceil((Date.parse(time) - Date.now()) / 1000));

function SandboxDetails({ of: sandbox }: { readonly of: SandboxState }) {
  const { petstore } = useSession();
  const may = useMay();
  const { animals, categories, orders, waiting } = sandbox;
  const action = useAction(async (seconds: number, retryOptions) => {
    await petstore.fastForwardSandbox({ seconds }, retryOptions);
    say(`Fast-forwarded by ${durationOf(seconds)}`);
    invalidate("");
  });
  return (
    <>
      <Facts
        of={[
          ["Animals", <Link to="/animals">{numberOf(animals)}</Link>],
          ["Categories", <Link to="/categories">{numberOf(categories)}</Link>],
          ["Orders", <Link to="/orders">{numberOf(orders)}</Link>],
        ]}
      />
      {waiting.length > 0 && (
        <section class="card">
          <h2>Waiting</h2>
          <ul class="lines">
            {waiting.map(({ kind, count, next: due }) => (
              <li key={kind}>
                <span class="what">
                  {countOf(count, textOf(kind))}, the next is due in <Countdown until={due} />
                </span>
                {may("fastForwardSandbox") && (
                  <button
                    type="button"
                    class="small"
                    disabled={action.isRunning}
                    onClick={() => void action.run(secondsUntil(due))}
                  >
                    {`Until the next ${textOf(kind)} is due`}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {may("fastForwardSandbox") && (
        <section class="card">
          <h2>Fast-forward</h2>
          <p class="intro fine">What waits is then due so much earlier.</p>
          <div class="filters" role="group" aria-label="Fast-forward">
            {steps.map((seconds) => (
              <button key={seconds} type="button" disabled={action.isRunning} onClick={() => void action.run(seconds)}>
                {`+${durationOf(seconds)}`}
              </button>
            ))}
          </div>
          <ErrorNote error={action.error} />
        </section>
      )}
    </>
  );
}

/**
 * Shows what a program gets when the service returns an error. The client does not send the request, because it would
 * retry, or sign the user out.
 */
function Simulate() {
  const { secret } = useSession();
  const [code, setCode] = useState(simulations[0] as string);
  const [result, setResult] = useState("");
  const action = useAction(async () => {
    const url = `${baseUrl}/pets/1`;
    const headers = { Authorization: `Bearer ${secret}`, "Petstore-Simulate": code };
    const response = await fetch(url, { method: "PATCH", headers }).catch(() => undefined);
    const wait = response?.headers.get("retry-after");
    setResult(
      `curl -i -X PATCH '${url}' \\\n  -H "Authorization: Bearer $PETSTORE_KEY" \\\n  -H 'Petstore-Simulate: ${code}'\n\n` +
        (response
          ? `HTTP ${response.status}\n${wait ? `Retry-After: ${wait}\n` : ""}\n${JSON.stringify(await response.json(), null, 2)}`
          : "The connection was closed without a response."),
    );
  });
  return (
    <section class="card">
      <h2>Simulate an error</h2>
      <p class="intro fine">
        With the header Petstore-Simulate, the service only returns the chosen error. Here the request would change an
        animal.
      </p>
      <div class="filters">
        <Select aria-label="Error" value={code} choose={setCode} choices={simulations.map((name) => [name, name])} />
        <button type="button" disabled={action.isRunning} onClick={() => void action.run()}>
          Send the request
        </button>
      </div>
      <ErrorNote error={action.error} />
      {result && <CodeBlock title="Request and response" text={result} what="request and response" />}
    </section>
  );
}

function Reset({ onClose }: { readonly onClose: () => void }) {
  const { petstore } = useSession();
  const action = useAction(async (body: SandboxReset, retryOptions) => {
    await petstore.resetSandbox(body, retryOptions);
    say("Sandbox reset");
    restartAtEnd();
    invalidate("");
  });
  return (
    <FormDialog
      title="Reset the sandbox?"
      fields={resetSandboxBody}
      values={{ animals: "samples" }}
      action={action}
      submit="Reset the sandbox"
      isFinal
      onClose={onClose}
    >
      <p class="intro">Everything in the sandbox is deleted permanently. Keys and webhook endpoints stay.</p>
    </FormDialog>
  );
}
